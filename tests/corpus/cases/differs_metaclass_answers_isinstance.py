"""`isinstance` with a class whose metaclass answers it is wrong in compiled code.

Source: https://github.com/pytorch/pytorch/pull/196124
Finds: results differ
Cause: (?i)isinstance|metaclass|__instancecheck__
Cure: (?i)direct|outside|disable|eager|__instancecheck__
Expects: graphs 1, breaks 0
Lacks: explained
"""

import torch


class Meta(type):
    def __subclasscheck__(cls, subclass):
        raise TypeError("no")

    def __instancecheck__(cls, instance):
        return instance[0] == 1


class BeginsWithOne(metaclass=Meta):
    pass


def model(x):
    values = [1, 2, 3]
    return x + 1 if isinstance(values, BeginsWithOne) else x - 1


inputs = (torch.ones(3),)

# Cured


def model(x):
    values = [1, 2, 3]
    return x + 1 if values[0] == 1 else x - 1
