"""`bufferlab serve`: who is answered, and what is said where there is no page."""

from __future__ import annotations

import errno
import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import polars as pl
import pytest

import bufferlab
from bufferlab import cli, web
from bufferlab.errors import InputError
from bufferlab.experiment.store.calls import LISTED
from bufferlab.experiment.store.rows import timestamp
from bufferlab.web.conditions import in_figures, meeting
from bufferlab.web.own import own_value
from bufferlab.web.runs import Runs

PAGE = {"index.html": "<!doctype html><head><title>a page</title></head>", "assets/lab.wasm": "wasm"}
SERVED = '<meta name="bufferlab-api" content="api" /><meta name="bufferlab-docs" content="api/docs" />'


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page, built or not."""
    folder = tmp_path / "page"
    for name, text in PAGE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.setattr(web, "PAGE", folder)
    return folder


PROGRAM = """
import sys
from pathlib import Path
import bufferlab
from bufferlab import cli, web
web.PAGE = Path(sys.argv[1])
sys.exit(cli.main(["serve", "--port", "0", "--store", sys.argv[2]]))
"""


@pytest.fixture
def address(page: Path) -> Iterator[str]:
    """That of a server."""
    command = [sys.executable, "-c", PROGRAM, str(page), str(page.parent / "runs")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()
        _, said = server.communicate()
    assert "Traceback" not in said


def asked(
    address: str, path: str, post: str | None = None, **headers: str
) -> tuple[int, str, http.client.HTTPMessage]:
    """The answer to a GET, or to a POST of a text."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 0)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("GET" if post is None else "POST", path, body=post, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode(errors="replace")
    connection.close()
    return answer.status, text, answer.headers


def test_only_the_page_s_own_requests_are_answered(address: str) -> None:
    parts = urlsplit(address)
    path, port = parts.path, parts.port
    status, text, headers = asked(address, path)
    assert (status, text) == (200, PAGE["index.html"].replace("<head>", f"<head>{SERVED}"))
    assert asked(address, f"{path}index.html")[:2] == (200, text)
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
    assert len(path) > 20
    wasm = asked(address, f"{path}assets/lab.wasm", Origin=f"http://127.0.0.1:{port}")
    assert (wasm[0], wasm[2]["Content-Type"]) == (200, "application/wasm")
    assert asked(address, path, Host=f"localhost:{port}")[0] == 200
    # what a link to share leads to has no token, and asks this computer for nothing
    assert asked(address, "/")[:2] == (200, PAGE["index.html"])
    assert asked(address, "/assets/lab.wasm")[0] == 200
    assert asked(address, "/api/jobs", json.dumps({"verb": "run", "text": ""}))[0] == 404
    refused = [
        asked(address, "/api/jobs"),
        asked(address, "/api/runs"),
        asked(address, "/", Host=f"rebound.example:{port}"),
        asked(address, "/", Origin="https://evil.example"),
        asked(address, "/../../../pyproject.toml"),
        asked(address, "/wrong/index.html"),
        asked(address, "/%C3%A9%C3%A9/"),
        asked(address, path, Host=f"rebound.example:{port}"),
        asked(address, path, Host="127.0.0.1"),
        asked(address, path, Origin="https://evil.example"),
        asked(address, path, Origin="null"),
        asked(address, f"{path}../../../pyproject.toml"),
        asked(address, f"{path}..%2f..%2fpyproject.toml"),
    ]
    assert {(status, "Not" in text) for status, text, _ in refused} == {(404, True)}


SCENARIO = """
run = { duration = "4 s", warmup = "1 s" }
bottleneck = { rate = "10 Mbps", delay = "2 ms", buffer = "40 packets" }
flows = [{ name = "near", count = 2, rtt = "20 ms" }]
"""


class Api:
    """What the page asks of a server."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.path = f"{urlsplit(address).path}api/jobs"

    def begin(self, verb: str, text: str = SCENARIO, **more: Any) -> tuple[int, dict[str, Any]]:
        document = json.dumps({"verb": verb, "text": text} | more)
        status, answer, _ = asked(self._address, self.path, document, content_type="application/json")
        return status, json.loads(answer)

    def state(self, job: dict[str, Any]) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(asked(self._address, f"{self.path}/{job['name']}")[1])
        return state

    def ended(self, job: dict[str, Any]) -> dict[str, Any]:
        while (state := self.state(job))["state"] == "running":
            time.sleep(0.1)
        return state

    def listed(self, **query: str) -> tuple[int, dict[str, Any]]:
        path = f"{self.path.removesuffix('jobs')}runs?{urlencode(query)}"
        status, answer, _ = asked(self._address, path)
        return status, json.loads(answer)

    def scenario(self, identity: str) -> tuple[int, dict[str, Any]]:
        path = f"{self.path.removesuffix('jobs')}runs/scenarios/{identity}"
        status, answer, _ = asked(self._address, path)
        return status, json.loads(answer)

    def cancel(self, job: dict[str, Any]) -> None:
        assert asked(self._address, f"{self.path}/{job['name']}/cancel", "")[0] == 200


def test_a_job_is_the_command_with_its_files(address: str) -> None:
    api = Api(address)
    status, job = api.begin("run")
    assert (status, job["verb"]) == (201, "run")
    state = api.ended(job)
    assert state["state"] == "done", state["progress"]
    assert "utilization, %" in state["answer"]
    rows = [row for part in state["view"] if part["kind"] == "grid" for row in part["rows"]]
    assert "utilization, %" in [row[0] for row in rows]
    assert "answer.json" not in state["files"]
    assert {"scenario.toml", "run.pcapng", "run.flent.gz", "results/summary.json"} <= set(state["files"])
    assert any(file.endswith(".svg") for file in state["files"])
    files = f"{api.path}/{job['name']}/files"
    status, text, headers = asked(address, f"{files}/scenario.toml")
    assert (status, text) == (200, SCENARIO)
    assert "sandbox" in headers["Content-Security-Policy"]
    assert headers["Content-Disposition"].startswith("inline")
    assert asked(address, f"{files}/run.pcapng")[2]["Content-Disposition"].startswith("attachment")
    for wrong in ("nothing.txt", "../scenario.toml", "%2e%2e/scenario.toml", "/etc/hosts", "progress.txt"):
        assert asked(address, f"{files}/{wrong}")[0] == 404, wrong
    (listed,) = json.loads(asked(address, api.path)[1])
    assert listed == state


def test_an_answer_names_its_buffers_and_what_they_are_the_answer_to(address: str) -> None:
    api = Api(address)
    _, size = api.begin("size", about="this link")
    _, advice = api.begin("advise", about="this link")
    (least,) = api.ended(size)["buffers"]
    assert (least["queue"], least["is_answer"], least["meets"]) == ("fifo", True, True)
    assert least["targets"] == "utilization at least 99 %"
    assert f"Take {least['packets']} packets" in api.ended(size)["answer"]
    state = api.ended(advice)
    assert state["about"] == "this link"
    answer, *others = state["buffers"]
    assert answer["is_answer"]
    assert answer["targets"].startswith("utilization at least 9")
    assert [each["queue"] for each in others] == ([] if answer["queue"] == "fifo" else ["fifo"])
    assert api.begin("size", about="x" * 101)[0] == 409


def test_only_the_reader_says_that_a_setting_runs_today(address: str) -> None:
    api = Api(address)
    _, job = api.begin("advise", today=True)
    (box,) = [part for part in api.ended(job)["view"] if part["kind"] == "box"]
    assert box["figures"]["rows"][0][2].endswith(", our default")
    assert "today" in [line["label"] for line in box["lines"]] or "runs today" in box["head"][0]
    assert box["figures"]["rows"][0][0].startswith("time in which the link is busy")
    _, job = api.begin("advise")
    assert "today" not in json.dumps(api.ended(job)["view"])
    body = json.dumps({"verb": "advise", "text": SCENARIO, "today": 1})
    assert asked(address, api.path, body, content_type="application/json")[0] == 400


def test_what_is_wrong_with_a_scenario_is_said_at_its_line(address: str) -> None:
    api = Api(address)
    _, job = api.begin("size", SCENARIO.replace("10 Mbps", "10 Mppp"))
    state = api.ended(job)
    assert state["state"] == "failed"
    assert "scenario.toml:3:23: bottleneck.rate" in state["progress"][0]


def test_jobs_are_canceled_and_no_more_than_two_run(address: str) -> None:
    api = Api(address)
    long = SCENARIO.replace("4 s", "100000 s")
    (first, one), (second, two) = api.begin("run", long), api.begin("size", long)
    assert (first, second) == (201, 201)
    status, refusal = api.begin("run")
    assert status == 409
    assert refusal["problem"] == "too many run already; accepted: 2 at a time: wait, or cancel one"
    for job in (one, two, one, two):
        api.cancel(job)
    assert {api.ended(job)["state"] for job in (one, two)} == {"canceled"}
    assert api.begin("observe")[0] == 409


def test_jobs_are_begun_by_the_page_only(address: str) -> None:
    path = Api(address).path
    document = json.dumps({"verb": "run", "text": SCENARIO})
    assert asked(address, path, document)[0] == 415
    assert asked(address, path, document, content_type="text/plain")[0] == 415
    of_json = {"content_type": "application/json"}
    assert asked(address, path, document, Origin="https://evil.example", **of_json)[0] == 404
    assert asked(address, "/wrong/api/jobs", document, **of_json)[0] == 404
    for wrong in ("", "[]", "{", '{"verb": "run"}', '{"verb": 1, "text": ""}', "[" * 100_000):
        assert asked(address, path, wrong, **of_json)[0] == 400, wrong[:20]
    assert asked(address, path, json.dumps({"text": "x" * 1_100_000}), **of_json)[0] == 413
    assert json.loads(asked(address, path)[1]) == []


def test_a_sweep_s_runs_are_listed_with_their_scenarios(address: str) -> None:
    api = Api(address)
    status, listed = api.listed()
    assert (status, listed["total"], listed["rows"]) == (200, 0, [])
    vary = ["bottleneck.queue=fifo,codel", "flows.near.count=1,2"]
    _, job = api.begin("sweep", vary=vary, seeds=2)
    state = api.ended(job)
    assert state["state"] == "done", state["progress"]
    assert "4 points × 2 seeds; 8 simulated" in state["answer"]

    _, listed = api.listed(where="bottleneck.queue = 'codel' and seed = 2", figure="wait_p99_ms")
    assert [column["name"] for column in listed["columns"]][1:4] == [
        "bottleneck.queue",
        "flows.near.count",
        "seed",
    ]
    assert (listed["total"], listed["stored"]) == (2, 8)
    assert [row["labels"][1:] for row in listed["rows"]] == [["codel", 1, 2], ["codel", 2, 2]]
    assert [column["title"] for column in listed["columns"]][1:4] == ["queue", "number of flows", "seed"]
    (group,) = listed["groups"]
    assert group["title"] == "sweep of queue and number of flows"
    assert group["began_at"] <= timestamp()
    assert {row["group"] for row in listed["rows"]} == {group["name"]}
    utilization = [column["name"] for column in listed["columns"] if column["figure"]].index("utilization")
    assert all(50 < row["values"][utilization] <= 100 for row in listed["rows"])  # in percent
    assert listed["columns"][-1] == {
        "name": "wait_p99_ms",
        "title": "wait: 99th percentile, ms",
        "figure": True,
    }

    text = api.scenario(listed["rows"][1]["scenario_hash"])[1]["text"]
    scenario = bufferlab.Scenario.from_toml(text)
    assert scenario.identity == listed["rows"][1]["scenario_hash"]
    assert scenario.links[0]["queue"]["discipline"] == "codel"
    _, listed = api.listed(means="1")
    assert [row["labels"][-1] for row in listed["rows"]] == [2, 2, 2, 2]
    assert all(row["widths"][0] is not None for row in listed["rows"])


def test_two_jobs_on_one_scenario_are_two_groups(address: str) -> None:
    api = Api(address)
    own = {"bottleneck.rate": "8000000 bps", "links[0].buffer": "9 packets"}  # the buffer is varied
    for values, changed in (("10,40", {}), ("10,40,60", own)):
        vary = [f"bottleneck.buffer={','.join(f'{value} packets' for value in values.split(','))}"]
        status, job = api.begin("sweep", vary=vary, seeds=2, changed=changed)
        assert (status, api.ended(job)["state"]) == (201, "done")
    ended = api.ended(job)
    assert (ended["scenario"], ended["changed"]) == ("scenario", "rate 8 Mbps, buffer 9 packets")
    assert ended["varied"] == ["buffer: 10 packets, 40 packets, 60 packets", "2 seeds of each"]
    for means, each in (("0", 2), ("1", 1)):
        _, listed = api.listed(means=means)
        assert listed["total"] == (6 if means == "0" else 5)  # what both asked for is one run
        groups = [(group["title"], group["changed"]) for group in listed["groups"]]
        assert groups == [("sweep of buffer", "rate 8 Mbps"), ("sweep of buffer", "")]
        assert "loss" in listed["groups"][0]["figures"]
        assert "call_r" not in listed["groups"][0]["figures"]
        rows = [row["group"] for row in listed["rows"]]
        assert [rows.count(group["name"]) for group in listed["groups"]] == [3 * each, 2 * each]


def test_a_buffer_is_one_however_it_is_written(address: str) -> None:
    api = Api(address)
    plan = bufferlab.Scenario.from_toml(SCENARIO.replace("40 packets", "stanford")).seeded().plan_json()
    packets = json.loads(plan)["links"][0]["discipline"]["limit"]["packets"]
    for values, seeds in (("stanford,40 packets,1 packets", 1), (f"{packets} packets,40 packets", 2)):
        status, job = api.begin("sweep", vary=[f"bottleneck.buffer={values}"], seeds=seeds)
        assert (status, api.ended(job)["state"]) == (201, "done")
    _, listed = api.listed(means="1")
    found: dict[str, list[Any]] = {group["name"]: [] for group in listed["groups"]}
    for row in listed["rows"]:
        found[row["group"]].append(row["labels"][1:])
    same = f"{packets} packets"
    # the first seed of the second sweep was in the store, as the first one wrote it
    assert [sorted(points) for points in found.values()] == [
        [[same, 2], ["40 packets", 2]],
        [["1 packet", 1], [same, 1], ["40 packets", 1]],
    ]
    for condition in (f"bottleneck.buffer = '{same}'", f"buffer = '{same}'", f"buffer = {packets} packets"):
        assert api.listed(where=condition)[1]["total"] == 2
    # as they are listed, whatever was typed
    assert api.listed(where="buffer > 1 and buffer < 41")[1]["total"] == 4
    assert api.listed(where="bottleneck.buffer > 40 or buffer = '1 packet'")[1]["total"] == 1


def test_a_queue_is_one_whoever_has_set_it(address: str) -> None:
    api = Api(address)
    for verb in ("advise", "size"):  # what size finds in the store, advise has set as FIFO
        status, job = api.begin(verb)
        assert (status, api.ended(job)["state"]) == (201, "done")
    _, listed = api.listed()
    size, _ = listed["groups"]
    assert (size["title"], size["scenario"]) == ("size", "scenario")
    place = [column["name"] for column in listed["columns"]].index("links[0].queue")
    assert {row["labels"][place] for row in listed["rows"] if row["group"] == size["name"]} == {"fifo"}


def test_runs_of_a_group_alone_are_in_no_list(address: str) -> None:
    api = Api(address)
    far = '{ name = "far", rtt = "40 ms" }'
    targets = '\nadvise = { targets = ["utilization >= 90 %", "near.goodput >= 1 Mbps"] }'
    _, job = api.begin("size", SCENARIO.replace("}]", f"}}, {far}]") + targets)
    state = api.ended(job)
    assert state["state"] == "done", state["progress"]
    _, listed = api.listed()
    assert listed["total"] == listed["stored"] == len(listed["rows"])
    assert "flows" not in [column["name"] for column in listed["columns"]]


def test_a_target_of_the_scenario_is_said_to_be_its_own(address: str) -> None:
    api = Api(address)
    _, job = api.begin("advise", SCENARIO + '\nadvise = { targets = ["utilization >= 90 %"] }')
    (box,) = [part for part in api.ended(job)["view"] if part["kind"] == "box"]
    assert box["figures"]["rows"][0][2] == "at least 90 %, by [advise]"


def test_calls_are_rated_in_lists(address: str) -> None:
    api = Api(address)
    udp = '{ kind = "udp", packet = "200 B", interval = "20 ms" }'
    call = f'\n[[flows]]\nname = "call"\nrtt = "20 ms"\napplication = {udp}\n'
    text = SCENARIO.replace("flows = [{", "[[flows]]\n").replace("}]", "").replace(", count", "\ncount")
    text = text.replace(", rtt", "\nrtt") + call
    _, job = api.begin("sweep", text, vary=["bottleneck.buffer=20 packets,41 packets"], seeds=2)
    state = api.ended(job)
    assert state["state"] == "done", state["progress"]
    assert "call: rating R" in json.dumps(state["view"])
    _, listed = api.listed(means="1")
    figures = [column["name"] for column in listed["columns"] if column["figure"]]
    assert figures[-2:] == ["call_r", "call_delay_ms"]
    assert listed["groups"][0]["figure"] == "wait_mean_ms"  # no target is of calls
    assert len(listed["rows"]) == 2
    assert all(0 < row["values"][-2] < 94 and row["widths"][-2] is not None for row in listed["rows"])
    _, job = api.begin("compare", text)
    state = api.ended(job)
    assert state["state"] == "done", state["progress"]
    for means in ("0", "1"):
        _, listed = api.listed(figure="call_r", means=means)
        assert listed["columns"][-2]["title"] == "call: rating R"
        (score,) = (each for each in listed["figures"] if each["name"] == "call_mos")
        assert score["title"] == "call: mean opinion score"
        assert len(score["meaning"]) > 20
        assert "`" not in score["meaning"]
        assert score["meaning"].endswith("Of several groups of calls, it is that of the worst.")
        ratings = [row["values"][-2] for row in listed["rows"]]
        assert any(ratings)
        assert all(0 < each < 94 for each in ratings if each is not None)
    assert 0 < api.listed(where="call_r > 50")[1]["total"] <= listed["stored"]
    named = text.replace("run = {", 'run = { name = "with a call",')
    targets = '\n[advise]\ntargets = ["utilization >= 90 %", "call.r > 70"]\n'
    _, job = api.begin("sweep", named + targets, vary=["bottleneck.buffer=20 packets"])
    assert api.ended(job)["state"] == "done"
    figures = [group["figure"] for group in api.listed()[1]["groups"]]
    assert figures == ["call_r", "wait_mean_ms", "wait_mean_ms"]  # a rating where calls are a target


def test_lists_have_what_each_group_of_a_sweep_got(address: str) -> None:
    api = Api(address)
    applications = {
        "call": '{ kind = "video-call" }',
        "pages": '{ kind = "web", size = "20 KB", every = "500 ms" }',
    }
    others = "".join(
        f'\n[[flows]]\nname = "{name}"\nrtt = "20 ms"\napplication = {each}\n'
        for name, each in applications.items()
    )
    text = SCENARIO.replace("flows = [{", "[[flows]]\n").replace("}]", "").replace(", count", "\ncount")
    _, job = api.begin("sweep", text.replace(", rtt", "\nrtt") + others, vary=["bottleneck.queue=fifo,codel"])
    state = api.ended(job)
    assert state["state"] == "done", state["progress"]
    for head in ("call: late, %", "call: goodput a flow, Mbps", "pages: took, median, s"):
        assert head in json.dumps(state["view"])
    _, listed = api.listed()
    named = {each["name"]: each["title"] for each in listed["figures"]}
    (group,) = listed["groups"]
    offered = {name: named[name] for name in group["figures"] if "." in name}
    assert offered["call.frames_late"] == "call: late, %"
    assert offered["pages.exchange_p50_s"] == "pages: took, median, s"
    assert offered["near.goodput_bps"] == "near: goodput a flow, Mbps"
    assert "call.exchange_p50_s" not in offered  # of pictures, which are said to be late or not
    _, listed = api.listed(figure="call.goodput_bps")
    assert listed["columns"][-1]["title"] == "call: goodput a flow, Mbps"
    assert all(0.05 < row["values"][-1] < 3 for row in listed["rows"])
    assert api.listed(where="pages.exchange_p50_s > 0.02 and pages.exchange_p50_s < 5")[1]["total"] == 2
    assert api.listed(where="pages.exchange_p50_s > 5")[1]["total"] == 0


def test_conditions_find_what_lists_show(address: str) -> None:
    api = Api(address)
    _, job = api.begin("compare")
    assert api.ended(job)["state"] == "done"
    _, job = api.begin("sweep", vary=["bottleneck.queue=fifo,codel"])
    assert api.ended(job)["state"] == "done"
    _, listed = api.listed()
    place = [column["name"] for column in listed["columns"]].index("bottleneck.queue")
    shown = [row["labels"][place] for row in listed["rows"]]
    assert shown.count("fifo") > 1
    for condition in ("bottleneck.queue = 'fifo'", "queue = 'fifo'"):
        _, found = api.listed(where=condition)
        assert len(found["rows"]) == shown.count("fifo"), condition
    # each queue has the scenario's own buffer, and the scenario's queue its name
    assert "scenario" not in shown
    buffers = [column["title"] for column in listed["columns"]].index("buffer")
    compared = next(group["name"] for group in listed["groups"] if group["title"] == "compare")
    of_compare = [row["labels"][buffers] for row in listed["rows"] if row["group"] == compared]
    assert of_compare
    assert all(str(label).endswith("packets") for label in of_compare)
    _, none = api.listed(where="queue = 'none'")
    assert (none["total"], [column["title"] for column in none["columns"]][:2]) == (0, ["scenario", "queue"])


@pytest.fixture
def swept(tmp_path: Path) -> Path:
    """A store with two sweeps of one scenario, which vary different settings."""
    scenario, store = tmp_path / "own.toml", tmp_path / "runs"
    scenario.write_text(SCENARIO)
    counts = ["--vary", "flows.near.count=2,3", "--vary", "bottleneck.delay=1 ms,3 ms"]
    for varied in (counts, ["--vary", "bottleneck.queue=fifo,codel"]):
        assert cli.main(["sweep", str(scenario), *varied, "--store", str(store)]) == 0
    return store


def test_conditions_on_settings_are_about_all_runs(swept: Path) -> None:
    runs = Runs(swept)
    # the sweep of queues has the scenario's own 2 flows and delay of 2 ms, the other one its FIFO
    for condition, total in [
        ("flows.near.count = 2", 4),
        ("flows.near.count = 3", 2),
        ("delay = 2", 2),
        ("delay = 3 and queue = 'fifo'", 2),
        ("queue = 'fifo'", 5),
    ]:
        assert runs.listed([condition], means=False)["total"] == total, condition
    # what is listed of them is what was varied
    (row,) = runs.listed(["flows.near.count = 2 and queue = 'codel'"], means=False)["rows"]
    assert [label for label in row["labels"] if label is not None] == ["codel", 1]


def test_conditions_say_of_how_many_runs_they_know_only_what_was_varied(swept: Path) -> None:
    assert Runs(swept).listed(["flows.near.count = 2"], means=False)["notes"] == []
    for kept in (swept / "scenarios").glob("*.toml"):
        kept.unlink()
    found = Runs(swept).listed(["flows.near.count = 2"], means=False)
    assert found["total"] == 2
    (note,) = found["notes"]
    assert note == "of 2 runs the store has no scenario: only what was varied in them is compared"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("bottleneck.delay", "2 ms"),
        ("links[0].rate", "10 Mbps"),
        ("links.bottleneck.queue", "fifo"),
        ("flows.near.count", 2),
        ("flows[0].rtt_spread", 0.0),
        ("flows.near.rtt", "20 ms"),
        ("flows[0].congestion", "reno"),
        ("flows[0].min_rto", "1 s"),
        ("run.seed", 1),
        ("flows[1].count", None),
        ("flows.none.count", None),
        ("bottleneck.none", None),
    ],
)
def test_a_scenario_s_own_value_is_as_lists_show_it(path: str, value: object) -> None:
    assert own_value(bufferlab.Scenario.from_toml(SCENARIO), path) == value


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("call.r > 80", "call.call_r > 80"),
        ("voice.mos > 4", "call_mos > 4"),
        ("queue = 'call.r'", "queue = 'call.r'"),
        ("pages.exchange_p50_s < 1", "pages.exchange_p50_s < 1"),
    ],
)
def test_a_rating_has_the_name_that_targets_have_for_it(typed: str, read: str) -> None:
    assert in_figures(typed, {"call_r", "call_mos", "call.call_r"}) == read


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("call rating > 90", "did you mean call_r (call: rating R)?"),
        ("queue = fifo", "fifo is no column"),
        ("queue = fifo", "words in single quotes"),
        ("utilization > 99 %", "utilization is a fraction"),
    ],
)
def test_a_condition_is_refused_in_the_page_s_words(condition: str, said: str) -> None:
    frame = pl.DataFrame({"bottleneck.queue": ["fifo"], "utilization": [0.9]})
    with pytest.raises(InputError) as refused:
        meeting(frame, [condition], {"bottleneck.queue": "queue"}, LISTED)
    assert said in str(refused.value)
    assert "--" not in str(refused.value)


def test_runs_of_other_commands_are_listed_too(address: str) -> None:
    api = Api(address)
    _, job = api.begin("compare")
    ended = api.ended(job)
    assert ended["state"] == "done"
    assert "grid" in [part["kind"] for part in ended["view"]]
    _, listed = api.listed()
    assert listed["total"] > 2
    texts = [api.scenario(row["scenario_hash"])[1]["text"] for row in listed["rows"]]
    scenarios = [bufferlab.Scenario.from_toml(text) for text in texts]
    assert [each.identity for each in scenarios] == [row["scenario_hash"] for row in listed["rows"]]


def test_an_answer_names_the_document_that_explains_it(address: str) -> None:
    api = Api(address)
    _, job = api.begin("size")
    assert job["document"] == "sizing.md"
    status, text, _ = asked(address, urlsplit(address).path + "api/docs/advise.md")
    assert status == 200
    assert 'id="the-table-in-the-box"' in text
    assert "<table>" in text and 'href="sizing.md#' in text
    assert 'href="../' not in text  # what is not served has no link
    for path in ("api/docs/none.md", "api/docs/..%2fREADME.md", "api/docs/scenario.schema.json"):
        assert asked(address, urlsplit(address).path + path)[0] == 404


def test_what_the_store_cannot_answer_is_refused(address: str) -> None:
    api = Api(address)
    for query in ({"where": "nonsense > 1"}, {"where": "loss >"}, {"figure": "beauty"}):
        status, answer = api.listed(**query)
        assert status == 409, query
        assert "accepted" in answer["problem"], query
    for identity in ("0123456789abcdef", "-"):
        assert "not in the store" in api.scenario(identity)[1]["problem"]
    for vary, seeds in (
        ([], 1),
        (["a=1"] * 9, 1),
        (["flows.near.count=1,2"], 0),
        (["flows.near.count=1"], 10**6),
    ):
        assert api.begin("sweep", vary=vary, seeds=seeds)[0] == 409
    assert api.begin("size", changed={"a": "b" * 20_000})[0] == 409
    of_json = {"content_type": "application/json"}
    for wrong in (
        {"vary": "a=1"},
        {"vary": [1]},
        {"seeds": "1"},
        {"seeds": True},
        {"changed": [1]},
        {"changed": {"a": 1}},
    ):
        document = json.dumps({"verb": "sweep", "text": SCENARIO} | wrong)
        assert asked(address, api.path, document, **of_json)[0] == 400, wrong
    _, job = api.begin("sweep", vary=["--store=/"])  # a value, never an option
    state = api.ended(job)
    assert (state["state"], len(state["progress"])) == ("failed", 1)
    assert "--store: is not a known key" in state["progress"][0]


def test_an_export_is_the_page_s_files(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "public" / "lab"
    assert cli.main(["serve", "--export", str(target)]) == 0
    assert {name: (target / name).read_text() for name in PAGE} == PAGE
    assert cli.main(["serve", "--export", str(target)]) == 2
    assert "is not empty; accepted: a new folder" in capsys.readouterr().err
    assert cli.main(["serve", "--export", str(page / "index.html" / "lab")]) == 1


def test_an_export_that_has_no_room_leaves_nothing(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_: Path, copy: Path) -> None:
        copy.touch()
        raise OSError(errno.ENOSPC, "No space left on device", str(copy))

    monkeypatch.setattr("shutil.copyfile", full)
    assert page.is_dir() and cli.main(["serve", "--export", str(tmp_path / "lab")]) == 1
    said = capsys.readouterr().err
    assert said == f"bufferlab: {tmp_path / 'lab'}: cannot be written (No space left on device)\n"
    assert not (tmp_path / "lab").exists()


def test_without_a_built_page_it_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(web, "PAGE", tmp_path / "none")
    for args in (["serve"], ["serve", "--export", str(tmp_path / "lab")]):
        assert cli.main(args) == 2
        said = capsys.readouterr().err
        assert "the page for browsers is not part of this installation" in said
        assert "scripts/web.sh" in said


@pytest.mark.parametrize(
    "args", [("--host", "0.0.0.0"), ("--host", "192.0.2.1"), ("--host", "no such name")], ids=" ".join
)
def test_addresses_that_cannot_be_are_refused(
    page: Path, args: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert page.exists()
    assert cli.main(["serve", "--port", "0", *args]) == 2
    assert capsys.readouterr().err.count("\n") == 1
