"""Runs cases and says what each gave."""


def report(cases):
    return "".join([f"{i} {outcome(case)}\n" for i, case in enumerate(cases)])


def outcome(case):
    try:
        return repr(case())
    except KeyError as error:
        return f"KeyError: {error.args}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
