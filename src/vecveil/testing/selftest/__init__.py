"""A statistical audit of the installed mechanisms, and of the audit itself by parts that are broken on purpose."""

from vecveil.testing.selftest.result import SelfTestResult
from vecveil.testing.selftest.run import SelfTest

__all__ = ["SelfTest", "SelfTestResult"]
