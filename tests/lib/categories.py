"""categories.py - the names of arXiv's categories, as its taxonomy lists them.

Facts, written down a second time: the program's own table is compared with them.
"""

# Archives that are parted into categories: cs.CL, astro-ph.GA.
PARTED = {
    "astro-ph": "CO EP GA HE IM SR",
    "cond-mat": "dis-nn mes-hall mtrl-sci other quant-gas soft stat-mech str-el"
    " supr-con",
    "cs": "AI AR CC CE CG CL CR CV CY DB DC DL DM DS ET FL GL GR GT HC IR IT LG LO MA"
    " MM MS NA NE NI OH OS PF PL RO SC SD SE SI SY",
    "econ": "EM GN TH",
    "eess": "AS IV SP SY",
    "math": "AC AG AP AT CA CO CT CV DG DS FA GM GN GR GT HO IT KT LO MG MP NA NT OA"
    " OC PR QA RA RT SG SP ST",
    "nlin": "AO CD CG PS SI",
    "physics": "acc-ph ao-ph app-ph atm-clus atom-ph bio-ph chem-ph class-ph comp-ph"
    " data-an ed-ph flu-dyn gen-ph geo-ph hist-ph ins-det med-ph optics plasm-ph"
    " pop-ph soc-ph space-ph",
    "q-bio": "BM CB GN MN NC OT PE QM SC TO",
    "q-fin": "CP EC GN MF PM PR RM ST TR",
    "stat": "AP CO ME ML OT TH",
}

# Archives that are one category.
WHOLE = """gr-qc hep-ex hep-lat hep-ph hep-th math-ph nucl-ex nucl-th
    quant-ph""".split()

CATEGORIES = WHOLE + [
    f"{archive}.{name}" for archive, names in PARTED.items() for name in names.split()
]
ARCHIVES = sorted([*PARTED, *WHOLE])
assert len(CATEGORIES) == 155

# Categories of bioRxiv and medRxiv.
PREPRINTS = """
    addiction-medicine allergy-and-immunology anesthesia
    animal-behavior-and-cognition biochemistry bioengineering bioinformatics
    biophysics cancer-biology cardiovascular-medicine cell-biology clinical-trials
    dentistry-and-oral-medicine dermatology developmental-biology ecology
    emergency-medicine endocrinology epidemiology evolutionary-biology
    forensic-medicine gastroenterology genetic-and-genomic-medicine genetics
    genomics geriatric-medicine health-economics health-informatics health-policy
    health-systems-and-quality-improvement hematology hiv-aids immunology
    infectious-diseases intensive-care-and-critical-care-medicine medical-education
    medical-ethics microbiology molecular-biology nephrology neurology neuroscience
    nursing nutrition obstetrics-and-gynecology
    occupational-and-environmental-health oncology ophthalmology orthopedics
    otolaryngology pain-medicine paleontology palliative-medicine pathology
    pediatrics pharmacology-and-therapeutics pharmacology-and-toxicology physiology
    plant-biology primary-care-research psychiatry-and-clinical-psychology
    public-and-global-health radiology-and-imaging
    rehabilitation-medicine-and-physical-therapy respiratory-medicine rheumatology
    scientific-communication-and-education sexual-and-reproductive-health
    sports-medicine surgery synthetic-biology systems-biology toxicology
    transplantation urology zoology
""".split()

_CATEGORY = {name.lower(): name for name in CATEGORIES}
_ARCHIVE = {name.lower(): name for name in ARCHIVES}


def find_category(typed):
    """The name as the table spells it, however it was typed; or None."""
    return _CATEGORY.get(typed.lower()) if typed.isascii() else None


def find_archive(typed):
    """The name of an archive as the table spells it, of cs or cs.*; or None."""
    name = typed.lower().removesuffix(".*")
    return _ARCHIVE.get(name) if typed.isascii() else None


def find_preprint(typed):
    """A category of bioRxiv or medRxiv, after "cat:" only; or None."""
    return typed.lower() if typed.lower() in PREPRINTS else None
