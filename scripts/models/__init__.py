"""The models that need no provider: simulated respondents and a small local one."""
