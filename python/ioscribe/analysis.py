# SPDX-License-Identifier: BSD-3-Clause
"""Runs an analysis of a store, a file of Python (docs/store.md), and writes its answer as JSON.

    analysis.py FILE [NAME=TEXT | NAME:=INTEGER]...

ioscribe query and ioscribe serve start it by its path, so that it needs no other part of the package.
The environment has IOSCRIBE_DB, the store; IOSCRIBE_QUERY, the program that asks it (ioscribe query's
own); IOSCRIBE_QUESTIONS, the folders of other questions. Standard output has one object, as of
/api/ask of ioscribe serve, or {"error": LINE} and exit status 1. What the analysis prints goes to
standard error. Must not know databases: ioscribe-query alone reads them, and it changes nothing.
"""
import ctypes
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback

INT64 = 1 << 63
PR_SET_PDEATHSIG = 1


class StoreError(Exception):
    """A question was not answered; the text is ioscribe query's."""


def end_with_parent():
    """A question goes when its analysis is killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


folders = []  # that hold a statement


def leave(_signal, _frame):
    """By a signal: nothing of the analysis runs any more, and no files stay."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def is_integer(value):
    import numbers

    return isinstance(value, numbers.Integral)


class Store:
    """What an analysis asks: answers are DataFrames."""

    def ask(self, question, /, **parameters):
        """The answer of another question, of SQL or Python, by its name."""
        return self._frame([question], parameters)

    def sql(self, statement, /, **parameters):
        """The answer of one statement, with :NAME for each parameter, an integer or a text."""
        head = "".join(f"-- parameter {name} {'integer' if is_integer(value) else 'text'}: given\n"
                       for name, value in parameters.items())
        folder = tempfile.mkdtemp(prefix="ioscribe-")
        folders.append(folder)
        try:
            with open(os.path.join(folder, "statement.sql"), "w", encoding="utf-8") as f:
                f.write(f"{head}\n{statement}")
            return self._frame(["--questions", folder, "statement"], parameters)
        finally:
            shutil.rmtree(folder)
            folders.remove(folder)

    def _run(self, form, arguments, parameters):
        values = []
        for name, value in parameters.items():
            if not is_integer(value) and not isinstance(value, str):
                raise TypeError(f"{name}: an integer or a text expected, not {type(value).__name__}")
            values.append(f"{name}={int(value) if is_integer(value) else value}")
        program = os.environ.get("IOSCRIBE_QUERY", "ioscribe")
        command = [program] + (["query"] if os.path.basename(program) == "ioscribe" else [])
        done = subprocess.run([*command, form, *arguments, *values], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, preexec_fn=end_with_parent, check=False)
        said = done.stderr.decode("utf-8", "backslashreplace")
        if done.returncode:
            line = said.strip().split("\n")[-1] or f"{program} ended with {done.returncode}"
            raise StoreError(line.split(": ", 1)[-1] if line.startswith("ioscribe") else line)
        sys.stderr.write(said)  # what another analysis printed
        return done.stdout.decode("utf-8")

    def _frame(self, arguments, parameters):
        import pandas as pd

        rows = json.loads(self._run("--json", arguments, parameters))
        if not rows:  # the names of its columns stand in CSV alone
            import csv

            return pd.DataFrame(columns=next(csv.reader([self._run("--csv", arguments, parameters)])))
        # A text that is no UTF-8 has another key, in its row only.
        names = [name[:-8] if name.endswith("_escaped") else name for name in rows[0]]
        made = pd.DataFrame([list(row.values()) for row in rows], columns=names, dtype=object)
        return pd.concat([column_of(made.iloc[:, i]) for i in range(len(names))], axis=1)


def column_of(values):
    """Integers stay integers where some are missing."""
    given = {type(v) for v in values if v is not None}
    if given == {int}:
        return values.astype("Int64" if values.isna().any() else "int64")
    return values.astype("float64") if given and given <= {int, float} else values


# ---- the answer ----

def plain(value):
    """One value as JSON has it: None, int, float or str."""
    import numpy as np
    import pandas as pd

    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if is_integer(value):
        return int(value) if -INT64 < value < INT64 else str(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.datetime64):
        value = pd.Timestamp(value)
    if isinstance(value, np.timedelta64):
        value = pd.Timedelta(value)
    if value is pd.NaT:
        return None
    if isinstance(value, (pd.Timestamp, pd.Timedelta)):
        return value.value // 1000
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)


def write_frame(frame, to):
    """Whole microseconds for times; the index is left out."""
    columns = [[plain(v) for v in frame.iloc[:, i]] for i in range(frame.shape[1])]
    kinds = [{type(v) for v in column if v is not None} for column in columns]
    head = [{"text": str(name), "type": "number" if kind and str not in kind else "string"}
            for name, kind in zip(frame.columns, kinds)]
    to.write(f'{{"columns":{json.dumps(head)},"rows":[')
    for i, row in enumerate(zip(*columns)):
        to.write((",\n" if i else "\n") + json.dumps(row, allow_nan=False))
    to.write("]}\n")


# ---- the analysis ----

def parameters_of(arguments):
    values = {}
    for argument in arguments:
        name, value = argument.split("=", 1)
        values[name.rstrip(":")] = int(value) if name.endswith(":") else value
    return values


def answer_of(path, parameters):
    """Of the file's class; helpers beside the file can be imported."""
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    try:
        import pandas as pd
    except ImportError as e:
        raise SystemExit(f"Python cannot load pandas ({e}): its package is python3-pandas") from None
    scope = {"__name__": "analysis", "__file__": path}
    with open(path, encoding="utf-8") as f:
        exec(compile(f.read(), path, "exec"), scope)
    if not isinstance(scope.get("Analysis"), type):
        raise SystemExit(f"{path}: no class Analysis")
    frame = scope["Analysis"]().get_data(Store(), **parameters)
    if not isinstance(frame, pd.DataFrame):
        raise SystemExit(f"{path}: get_data returned {type(frame).__name__}, not a pandas DataFrame")
    return frame


def told(error, path):
    """The traceback's last line, behind the last line of the analysis that it names."""
    if isinstance(error, SystemExit):
        return str(error.code)
    last = traceback.format_exception_only(type(error), error)[-1]
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    return (f"{path}:{lines[-1]}: " if lines else f"{path}: ") + last


def main():
    signal.signal(signal.SIGINT, leave)
    signal.signal(signal.SIGTERM, leave)
    with open(os.dup(1), "w", encoding="utf-8") as to:
        os.dup2(2, 1)  # also of what the analysis starts
        path = sys.argv[1]
        try:
            frame = answer_of(path, parameters_of(sys.argv[2:]))
            write_frame(frame, to)
        except BaseException as error:
            line = " ".join(told(error, path).split())
            json.dump({"error": line if len(line) <= 300 else "..." + line[-297:]}, to)  # the cause is behind
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
