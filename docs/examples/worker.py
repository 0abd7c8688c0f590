#!/usr/bin/env python3
"""worker.py KIND COMMAND [ARG...]

Runs COMMAND for each job of KIND, with the payload on its standard input. Exit code 0 completes the job: the
output is its result, as JSON if it is JSON, else as text. Any other exit fails the attempt. SIGTERM ends the
worker after the job at hand. Needs Python 3.9 and nothing else; keeps the rules of docs/conformance.md.
"""
import datetime
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import uuid

SERVER = os.environ.get("STINT_SERVER", "http://127.0.0.1:8480")
BUSY = (0, 408, 429, 500, 502, 503, 504)  # ask again; 0 is no answer
stopping = False


def find_token():
    try:
        token = os.environ.get("STINT_TOKEN") or open("stint.db.token").read().strip()
    except OSError as e:
        sys.exit(f"no token: set STINT_TOKEN, or run where stint.db.token is ({e.strerror})")
    return token or sys.exit("no token: stint.db.token is empty")


TOKEN = find_token()


def clock():
    """Seconds on a clock that goes on while the machine sleeps, where there is one."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def between(start, end):
    """Seconds between two times of one answer: they are never compared with this machine's clock."""
    start, end = (datetime.datetime.strptime(t, "%Y-%m-%dT%H:%M:%S.%fZ") for t in (start, end))
    return (end - start).total_seconds()


def say(what, text):
    print(time.strftime("%H:%M:%S"), f"{what}: {text}", flush=True)


def post(path, body, timeout, **headers):
    """Send body, bytes of JSON. Return the status, 0 if there was no whole answer, and the answer."""
    headers = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json", **headers}
    request = urllib.request.Request(f"{SERVER}/v1/jobs/{path}", body, headers)
    try:
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, json.load(refusal)
    except json.JSONDecodeError:
        return 502, {}  # something between us and the server has answered
    except (OSError, http.client.HTTPException):
        return 0, {}


def pause(answer):
    """Seconds that an answer asks to wait; 1 if it does not say."""
    return (answer.get("retry_after_ms") or 1000) / 1000


class Job:
    """A claimed job. It is held up to the moment end."""

    def __init__(self, claimed, sent):
        self.id, self.token, self.payload = claimed["id"], claimed["lease_token"], claimed["payload"]
        self.lease = between(claimed["updated_at"], claimed["lease_expires_at"])
        self.sent, self.end, self.next_beat = sent, sent + self.lease, sent + self.lease / 3
        self.limit = float("inf")
        if claimed.get("deadline_at"):
            self.limit = sent + between(claimed["updated_at"], claimed["deadline_at"])
        self.cancelled = False

    def body(self, **members):
        return json.dumps({"lease_token": self.token, **members}, ensure_ascii=False).encode()

    def beat(self):
        """Renew the lease, and learn anew how long it and the time limit last; end is 0 when it is lost."""
        sent = clock()
        status, answer = post(self.id + "/heartbeat", self.body(), timeout=self.lease / 4)
        if status == 200:
            held = self.lease
            if "now" in answer:
                held = between(answer["now"], answer["lease_expires_at"])
                if answer["deadline_at"]:
                    self.limit = sent + between(answer["now"], answer["deadline_at"])
            self.end, self.next_beat = sent + held, sent + held / 3
            self.cancelled = self.cancelled or answer["directive"] == "cancel"
        elif status in (404, 409):
            self.end, self.next_beat = 0, float("inf")
        else:
            self.next_beat = clock() + pause(answer)
            say(self.id, f"no heartbeat for now: {status}")

    def finish(self, action, body):
        """Send a report until it is answered. The same finish again changes nothing."""
        status, answer = 0, {}
        while clock() < self.end + 60:
            status, answer = post(f"{self.id}/{action}", body, timeout=20)
            if status == 200:
                return say(self.id, action)
            if status in BUSY:
                time.sleep(pause(answer))
            elif status in (400, 413, 422) and action == "complete" and body != self.body():
                body = self.body()  # the result is refused, and the work is done all the same
            else:
                break
        say(self.id, f"{action} not taken: {status} {answer.get('code')}")

    def work(self, command):
        """Run the command in a session of its own, end it when it must not go on, and report."""
        with tempfile.TemporaryFile() as payload, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            payload.write(json.dumps(self.payload).encode())
            payload.seek(0)
            process = subprocess.Popen(command, stdin=payload, stdout=out, stderr=err, start_new_session=True)
            say(self.id, f"begins, process {process.pid}")
            why = self.watch(process)
            kill(process, signal.SIGKILL)  # what it left running
            if why == "lost":
                return
            if process.returncode == 0 and why != "timeout":
                self.finish("complete", self.completed(out))
                return
            code = f"exit_{process.returncode}" if process.returncode > 0 else f"signal_{-process.returncode}"
            message = tail(err, 4000) or "the command wrote nothing to its standard error"
            self.finish("fail", self.body(error={"code": "timeout" if why == "timeout" else code, "message": message}))

    def watch(self, process):
        """Wait for the command, and renew the lease. Return why it was ended, or None."""
        why, kill_at = None, float("inf")
        while process.poll() is None:
            time.sleep(0.1)
            if clock() >= self.next_beat:
                self.beat()
            if clock() >= self.end - 0.5:  # another worker may have the job soon
                why, kill_at = "lost", 0
            elif why is None and self.cancelled:
                why, kill_at = "cancelled", clock() + 10
            elif why is None and clock() >= self.limit - 3:
                why, kill_at = "timeout", self.limit - 2
            if why:
                kill(process, signal.SIGKILL if clock() >= kill_at else signal.SIGTERM)
        if why:
            say(self.id, f"{why}: ended the command")
        return why

    def completed(self, out):
        """The body of complete, with the digits of numbers as they were printed."""
        text = tail(out, 262_144)
        try:
            json.loads(text, parse_int=str, parse_float=str, parse_constant=no_json)
        except (ValueError, RecursionError):
            return self.body(result=text[-40_000:])
        return self.body()[:-1] + b', "result": ' + text.encode() + b"}"


def no_json(name):
    raise ValueError(name)


def tail(file, most):
    """The end of a file as text that the server takes."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - most))
    return file.read().decode(errors="replace").replace("\0", "\ufffd")


def kill(process, number):
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


def claim(kind, worker):
    """Claim until it is answered. A repetition is the same request: its key brings the same job."""
    body = json.dumps({"worker": worker, "kinds": [kind], "wait_seconds": 20}).encode()
    key, sent = str(uuid.uuid4()), clock()
    while True:
        asked = clock()
        status, answer = post("claim", body, timeout=45, **{"Idempotency-Key": key})
        if status == 200 and answer["jobs"]:
            return Job(answer["jobs"][0], sent)
        if status == 200:
            time.sleep(max(0, asked + answer["poll_after_ms"] / 1000 - clock()))
            return None
        say("claim", f"not answered: {status} {answer.get('code')}")
        if status not in BUSY and answer.get("code") != "idempotency_in_flight":
            sys.exit(1)
        if stopping:
            return None
        time.sleep(pause(answer))


def stop(*_):
    global stopping
    stopping = True


def main(kind, *command):
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    worker, last = f"{socket.gethostname()}-{os.getpid()}", None
    while not stopping:
        job = claim(kind, worker)
        if job and job.token != last:
            if clock() >= job.sent + 1:
                job.beat()  # the claim waited: is the lease held, and how much is left of the time limit?
            if clock() < job.end:
                job.work(command)
            last = job.token


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
