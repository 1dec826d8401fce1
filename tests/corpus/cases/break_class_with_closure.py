"""A class that is defined in the function writes to a list outside.

Source: https://github.com/pytorch/pytorch/issues/197896
Finds: graph breaks at line 16
Cause: class
Cure: outside|module level
Expects: breaks 0
"""

import torch

seen = []


def model(x):
    class Helper:
        def touch(self, y):
            seen.append(1)
            return y + len(seen)

    return Helper().touch(x.sin())


calls = [(torch.ones(3),), (torch.ones(3),)]


# Cured
class Helper:
    def touch(self, y):
        seen.append(1)
        return y + len(seen)


helper = Helper()


def model(x):
    return helper.touch(x.sin())
