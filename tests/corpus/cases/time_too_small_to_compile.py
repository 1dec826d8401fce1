"""A compiled loss of a few numbers is slower than eager, for its guards and its call.

Source: https://github.com/ScalingIntelligence/KernelBench/issues/68
Finds: slower than eager or guards
Cause: (?i)slow|overhead|guard|small
Cure: (?i)eager|not compile|larger|batch|skip_guard|more work|whole
Run: --backend inductor
Lacks: detected, explained
"""

import torch


def model(x, y):
    return x + y


inputs = (torch.randn(4), torch.randn(4))
