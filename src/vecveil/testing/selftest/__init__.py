"""A statistical test of the installed mechanisms, and of the test itself."""

from vecveil.testing.selftest.result import SelfTestResult
from vecveil.testing.selftest.run import SelfTest

__all__ = ["SelfTest", "SelfTestResult"]
