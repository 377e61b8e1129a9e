#!/usr/bin/env python3
"""test_prometheus.py - promtool reads the metrics; contrib's rules fire and clear.

There is a rule for each health check, and the dashboard for Grafana uses metrics that
exist.
"""

import contextlib
import json
import os
import re
import shutil

import lib  # the path
from daemon import Instance, at_hour
from relays import unpack
from smtp_fixture import Server
from tap import Skip, Tap, read, read_text, run, top_srcdir

CONTRIB = os.path.join(top_srcdir(), "contrib")
RULES = os.path.join(CONTRIB, "prometheus", "paperboy.rules")
RULE = re.compile(
    r"  - alert: (Paperboy\w+)\n    expr: (.+)\n    for: (\d+)([mhd])\n"
    r"    labels: {severity: (warning|critical)}\n    annotations:\n"
    r'      summary: "([^"]+[.])"\n      runbook: "([^"]+[.])"\n')
MINUTES = {"m": 1, "h": 60, "d": 1440}
BEFORE, AFTER = 10, 30  # minutes without a problem


def load_rules():
    """(name, expression, minutes, severity, summary, runbook) of each rule"""
    text = read_text(RULES)
    rules = [(name, expr, int(number) * MINUTES[unit], *more)
             for name, expr, number, unit, *more in RULE.findall(text)]
    assert len(rules) == text.count("- alert:"), "a rule has another form"
    return rules


def metrics_are_valid(promtool, metrics, directory):
    "promtool finds no fault in the metrics"
    with open(os.path.join(directory, "metrics"), "w+", encoding="utf-8") as file:
        file.write(metrics)
        file.seek(0)
        assert run([promtool, "check", "metrics"], stdin=file) == ""


def each_check_has_a_rule(promtool, metrics, _directory):
    "each health check has one rule with a severity and what to do"
    run([promtool, "check", "rules", RULES])
    checks = re.findall(r'^paperboy_problems{check="([a-z-]+)"}', metrics, re.M)
    assert len(checks) > 25, checks
    found = [re.fullmatch(r'paperboy_problems{check="([a-z-]+)"} > 0', expr)
             for _, expr, *_ in load_rules()]
    assert sorted(one[1] for one in found if one) == sorted(checks)
    assert len({name for name, *_ in load_rules()}) == len(found)


def expect(rule, at, labels=None):
    """That a rule fires with these labels after so many minutes; None: does not."""
    name, _, _, severity, summary, runbook = rule
    fired = [] if labels is None else [
        {"exp_labels": {"severity": severity} | labels,
         "exp_annotations": {"summary": summary, "runbook": runbook}}]
    return {"eval_time": f"{at}m", "alertname": name, "exp_alerts": fired}


def rule_test(rule):
    """A problem that lasts a little longer than the rule waits for."""
    name, expr, minutes = rule[:3]
    lasts = minutes + 5
    series, values = expr.removesuffix(" > 0"), f"0x{BEFORE} 1x{lasts} 0x{AFTER}"
    labels = dict(re.findall('(check)="(.+)"', expr))
    if name == "PaperboyMetricsMissing":
        lasts += 10  # a sample counts for five minutes
        series, values = "paperboy_up", f"1x{BEFORE} _x{lasts} 1x{AFTER}"
    elif name == "PaperboyMetricsOld":
        lasts += 35
        labels = {"file": "/var/lib/prometheus/node-exporter/paperboy.prom"}
        series = f'node_textfile_mtime_seconds{{file="{labels["file"]}"}}'
        values = f"0+60x{BEFORE} {BEFORE * 60}x{lasts} {(BEFORE + lasts) * 60}+60x{AFTER}"
    end = BEFORE + lasts
    return {"interval": "1m", "input_series": [{"series": series, "values": values}],
            "alert_rule_test": [expect(rule, BEFORE), expect(rule, BEFORE + 2),
                                expect(rule, end, labels), expect(rule, end + AFTER)]}


def rules_fire_and_clear(promtool, _metrics, directory):
    "each rule fires once its problem has lasted, and clears when it has ended"
    path = os.path.join(directory, "rules.json")
    with open(path, "w", encoding="ascii") as file:
        json.dump({"rule_files": [RULES], "evaluation_interval": "1m",
                   "tests": [rule_test(rule) for rule in load_rules()]}, file)
    run([promtool, "test", "rules", path])


def dashboard_uses_metrics_that_exist(promtool, metrics, directory):
    "the dashboard has expressions that Prometheus reads, of metrics that there are"
    board = json.loads(read(os.path.join(CONTRIB, "grafana", "paperboy.json")))
    known = set(re.findall(r"^# TYPE (\w+)", metrics, re.M))
    expressions = [target["expr"].replace("$__rate_interval", "5m")
                   for panel in board["panels"] for target in panel["targets"]]
    for expression in expressions:
        names = set(re.findall(r"paperboy_\w+", expression))
        assert names and names <= known, (expression, names - known)
    path = os.path.join(directory, "board.json")
    with open(path, "w", encoding="ascii") as file:
        json.dump({"groups": [{"name": "board", "rules": [
            {"record": f"board:{number}", "expr": expression}
            for number, expression in enumerate(expressions)]}]}, file)
    run([promtool, "check", "rules", path])
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    assert {panel["datasource"]["uid"] for panel in board["panels"]} == {"${source}"}


def load_metrics(tap):
    """Those of a running daemon."""
    with contextlib.closing(Server()) as relay:
        instance = Instance(tap.subdirectory("paperboy"), port=relay.port)
        instance.write_day("2026-11-20", range(3))
        instance.add_people(1, now=at_hour("2026-11-20", 6))
        with instance.start(now=at_hour("2026-11-20")) as child:
            child.wait_line("collector done")
            child.wait_fact(lambda: instance.states() == {"SENT": 1}, "the digest")
            metrics = instance.ctl("metrics")
            assert child.stop() == 0
    return metrics


with Tap() as tap:
    try:
        promtool = shutil.which("promtool") or os.path.join(
            unpack("prometheus"), "usr", "bin", "promtool")
    except Skip as reason:
        tap.skip("promtool", reason)
    else:
        metrics = load_metrics(tap)
        for test in (metrics_are_valid, each_check_has_a_rule, rules_fire_and_clear,
                     dashboard_uses_metrics_that_exist):
            tap.run(test, promtool, metrics, tap.subdirectory(test.__name__))
