"""browser.py - Chromium without a window, axe-core and lynx for tests.

    use_debian_python("selenium")        # of tap.py; first thing in a script
    with browser.Browser(width=390) as chromium:
        chromium.open("https://127.0.0.1:8443/")
        chromium.click("Subscribe")
        assert chromium.violations() == []
"""

import glob
import importlib.util
import os
import shutil
import tarfile

from tap import need_programs, run, top_builddir, wait_until

# WCAG 2.2 AA and axe-core's advice.
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# The rules of axe-core that look at colours.
COLOURS = ["color-contrast", "link-in-text-block"]

# A page on a busy machine.
WAIT_S = 120

SUMMARY = """
const done = arguments[arguments.length - 1];
axe.run(document, {runOnly: {type: arguments[0], values: arguments[1]}}).then(
    results => done(results.violations.map(found => found.id + ': ' + found.help + ' at '
        + found.nodes.map(node => node.html).join(' and '))),
    error => done(['axe-core failed: ' + error]));
"""


def find_missing():
    """Why there can be no browser here, or None."""
    for module in ("selenium", "feedparser"):
        if not importlib.util.find_spec(module):
            return f"python3-{module} is not installed"
    for program, package in (("chromium", "chromium"), ("chromedriver", "chromium-driver")):
        if not shutil.which(program):
            return f"{package} is not installed"
    if not find_axe():
        return "axe-core is not there (./setup check fetches it)"
    return None


def find_axe():
    return glob.glob(os.path.join(top_builddir(), "axe", "axe-core-*.tgz"))


def load_axe():
    """The source of axe-core."""
    with tarfile.open(find_axe()[0]) as package:
        return package.extractfile("package/axe.min.js").read().decode("utf-8")


class Browser:
    """One window of Chromium.  Pages are found by what people see, not by ids.

    is_dark: the colour scheme; language: what the browser asks for.
    """

    def __init__(self, width=1280, height=800, is_dark=False, language="en"):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        driver, chromium = need_programs("chromedriver", "chromium")
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu",
                         "--disable-dev-shm-usage", "--hide-scrollbars",
                         "--disable-background-networking", "--disable-component-update",
                         "--disable-extensions", "--in-process-gpu",
                         f"--accept-lang={language}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        options.accept_insecure_certs = True  # the chain is checked by other tests
        self.driver = webdriver.Chrome(service=Service(driver), options=options)
        self.driver.set_page_load_timeout(WAIT_S)
        self.driver.set_script_timeout(WAIT_S)
        self._axe = None
        self.resize(width, height)
        self.set_scheme(is_dark)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def resize(self, width, height=800):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def set_scheme(self, is_dark):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}]})

    # -- pages --

    def open(self, url):
        self.driver.get(url)

    @property
    def title(self):
        return self.driver.title

    @property
    def text(self):
        return self.find("body").text

    def find(self, selector):
        from selenium.webdriver.common.by import By

        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector):
        from selenium.webdriver.common.by import By

        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def run_script(self, script):
        return self.driver.execute_script(script)

    def field(self, label):
        """The field with a label."""
        for element in self.find_all("label"):
            if element.text == label:
                return self.find("#" + element.get_attribute("for"))
        raise AssertionError(f"no label {label!r} in:\n{self.text}")

    def fill(self, label, text):
        field = self.field(label)
        field.clear()
        field.send_keys(text)

    def choose(self, label, option):
        from selenium.webdriver.support.ui import Select

        Select(self.field(label)).select_by_visible_text(option)

    def click(self, name):
        """Press a button or follow a link, and wait for the next page."""
        for element in self.find_all("[type=submit], button, a"):
            if name in (element.text, element.get_attribute("value")):
                break
        else:
            raise AssertionError(f"no button {name!r} in:\n{self.text}")
        self._leave(element.click, name)

    def enter(self, label):
        """Press Enter in a field, and wait for the next page."""
        self._leave(lambda: self.field(label).send_keys("\n"), label)

    def _leave(self, action, name):
        before = self.find("html")
        self.run_script("window.isOld = true")
        action()
        wait_until(self._is_new, f"the page after {name!r}", WAIT_S)
        del before

    def _is_new(self):
        from selenium.common.exceptions import WebDriverException

        try:
            return self.run_script(
                "return !window.isOld && document.readyState == 'complete'")
        except WebDriverException:  # between two pages
            return False

    # -- quality --

    def violations(self, rules=None):
        """Findings of axe-core, as texts; of some rules, or all."""
        self._axe = self._axe or load_axe()
        self.driver.execute_script(self._axe)
        return self.driver.execute_async_script(
            SUMMARY, "rule" if rules else "tag", rules or TAGS)

    def log(self):
        """Messages of the browser, such as violations of the policy."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def overflow(self):
        """Pixels by which the page is wider than the window."""
        return self.run_script("const page = document.documentElement;"
                               "return page.scrollWidth - page.clientWidth")

    def save(self, path):
        """A picture of the whole page."""
        width, height = self.run_script(
            "return [innerWidth, document.documentElement.scrollHeight]")
        self.resize(width, height)
        self.driver.save_screenshot(path)
        self.resize(width)


def read_in_lynx(path):
    """The text of an HTML file as a text browser shows it."""
    (lynx,) = need_programs("lynx")
    return run([lynx, "-dump", "-nolist", "-force_html", "-assume_charset=utf-8",
                "-display_charset=utf-8", "-width=72", path])
