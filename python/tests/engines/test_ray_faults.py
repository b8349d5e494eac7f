"""What happens on Ray when something dies in the middle: the output is right, or the failure has a name, and nothing half written counts as done."""

import os
import signal
import subprocess

import pytest

from two_nodes import Jobs, end, go_on, until

# Seconds on a machine that does nothing else; Ray takes its time on one that does.
pytestmark = pytest.mark.timeout(300)


def is_whole(jobs, expected):
    """All jobs are done by their own account, and the output is what one command writes."""
    return jobs.missing() == [] and jobs.output() == expected


def until_quiet(jobs, seconds):
    def quiet():
        """the end of all jobs"""
        return not jobs.at_work()

    until(quiet, seconds)


def test_a_worker_is_killed(cluster, jobs, expected):
    engine = cluster.begin(jobs)
    jobs.until_done(4)
    job, worker = jobs.hold()
    os.kill(worker, signal.SIGKILL)
    go_on(job)

    def gone():
        """the end of the job whose worker was killed"""
        return job not in {number for number, _ in jobs.at_work()}

    until(gone, 5)
    code, summary, said = end(engine)
    assert code == 0 and is_whole(jobs, expected), said
    assert "0 failed" in summary and "its worker died" in summary


def test_a_node_is_killed(cluster, jobs, expected):
    engine = cluster.begin(jobs)
    jobs.until_done(4)
    jobs.hold(under=cluster.node.pid)
    cluster.kill_node()
    code, summary, said = end(engine)
    assert code == 0 and is_whole(jobs, expected), said
    assert "0 failed" in summary and "its node died" in summary


def test_the_driver_is_killed(cluster, jobs, expected):
    engine = cluster.begin(jobs)
    jobs.until_done(6)
    job, _ = jobs.hold()
    engine.kill()
    engine.communicate()
    go_on(job)
    # Nothing works on behind the back of whoever calls it again.
    until_quiet(jobs, 30)
    done = jobs.seals()
    missing = jobs.missing()
    assert 6 <= len(done) < jobs.count and len(missing) == jobs.count - len(done)
    code, summary, said = cluster.run(jobs)
    assert code == 0 and is_whole(jobs, expected), said
    assert f"{len(missing)} done in" in summary and f"{len(done)} were done already" in summary


@pytest.mark.slow
def test_stopping_ends_all_jobs(cluster, jobs):
    engine = cluster.begin(jobs)
    jobs.until_done(2)
    job, _ = jobs.hold()
    engine.send_signal(signal.SIGINT)
    go_on(job)
    code, summary, said = end(engine)
    assert code == 130 and "call it again" in said and "not run" in summary
    until_quiet(jobs, 5)
    assert len(jobs.missing()) == jobs.count - len(jobs.seals())


@pytest.mark.slow
def test_a_job_that_always_fails_is_named_and_the_others_are_done(cluster, jobs, expected):
    # A file cannot be renamed over a folder that holds something.
    wrong = jobs.folder / "parts" / "columns-0007"
    (wrong / "in-the-way").mkdir(parents=True)
    code, summary, said = cluster.run(jobs, "--retries", "1")
    assert code == 1 and f"error: 1 of {jobs.count} jobs failed" in said
    assert "failed: columns-0007: " in summary and "columns-0007: Is a directory" in summary and "not run: rows-0001, table-0001" in summary
    assert not jobs.answers.exists()
    (wrong / "in-the-way").rmdir()
    wrong.rmdir()
    code, summary, said = cluster.run(jobs)
    assert code == 0 and is_whole(jobs, expected), said
    assert "3 done" in summary and f"{jobs.count - 3} were done already" in summary


@pytest.mark.slow
def test_an_input_that_changed_is_named_and_not_tried_again(cluster, jobs, material):
    graph = material / "graph.treering"
    before = graph.read_bytes()
    graph.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
    try:
        code, summary, said = cluster.run(jobs)
    finally:
        graph.write_bytes(before)
    assert code == 2 and "graph.treering: it has changed since the list was made" in summary
    assert "tried again" not in summary and jobs.seals() == [] and not jobs.answers.exists()


@pytest.mark.slow
def test_a_disk_that_is_full_is_named_and_work_goes_on_when_it_is_not(cluster, tmp_path, material, expected):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk]).returncode != 0:
        pytest.skip("a small file system cannot be mounted here; root can")
    try:
        jobs = Jobs(disk, material)
        filler = disk / "filler"
        with open(filler, "wb", buffering=0) as full:
            try:
                while True:
                    full.write(bytes(4096))
            except OSError:
                pass
        os.truncate(filler, filler.stat().st_size - 800_000)
        code, summary, said = cluster.run(jobs, "--retries", "1")
        assert code == 1 and "No space left on device" in summary, summary
        done = jobs.seals()
        assert 0 < len(done) < jobs.count and len(jobs.missing()) == jobs.count - len(done)
        assert not jobs.answers.exists()
        filler.unlink()
        code, summary, said = cluster.run(jobs)
        assert code == 0 and is_whole(jobs, expected), said
        assert f"{len(done)} were done already" in summary
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


@pytest.mark.slow
def test_a_file_that_is_cut_short_is_made_again(cluster, jobs, expected):
    engine = cluster.begin(jobs)
    jobs.until_done(3)
    cut = jobs.folder / "parts" / jobs.seals()[0]
    os.truncate(cut, 1)
    code, summary, said = end(engine)
    assert code == 0 and is_whole(jobs, expected), said
    # And where nobody is at work.
    os.truncate(cut, 0)
    (jobs.folder / "done" / "table-0001.json").unlink()
    code, summary, said = cluster.run(jobs)
    assert code == 0 and is_whole(jobs, expected), said
    assert "2 done" in summary and f"{jobs.count - 2} were done already" in summary
