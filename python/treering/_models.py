"""The two learners that can be kept, and the way back from a folder."""

import os
from typing import Optional

from treering import _native
from treering._model import Folder, Model


class TreeRing(Model):
    """The learner of this project: exact, fast, good at single nodes (docs/treering-learner.md).

    seed: seeds the projection and all that is drawn. width: most columns of the space in which tasks are recognised. hops: how many steps
    away a node is seen from. rank: principal directions that a ring keeps. router: ridge, evidence or prototype. progress: whether to show it;
    None decides by where standard error goes.
    """

    _learner = "treering"

    def __init__(
        self, *, seed: int = 0, width: int = 2048, hops: int = 3, rank: int = 256, router: str = "ridge", progress: Optional[bool] = None
    ) -> None:
        super().__init__(seed=seed, width=width, hops=hops, rank=rank, router=router, progress=progress)


class TPP(Model):
    """The paper's learner: task profiling and prompting. docs/tpp.md says what the parameters do; the defaults are the paper's."""

    _learner = "tpp"

    def __init__(
        self,
        *,
        seed: int = 0,
        hidden: int = 256,
        hops: int = 2,
        contrastive_epochs: int = 200,
        contrastive_adam_rate: float = 0.001,
        contrastive_adam_decay: float = 1e-5,
        contrastive_edge_removal: float = 0.2,
        contrastive_edge_mask: str = "fixed-count",
        contrastive_attribute_masking: float = 0.3,
        contrastive_corrupt_both: bool = False,
        contrastive_temperature: float = 0.5,
        contrastive_budget: int = 4096,
        contrastive_exact: bool = False,
        profile: str = "smoothed",
        smoothing: int = 3,
        patch: bool = True,
        tokens: int = 3,
        epochs: int = 200,
        adam_rate: float = 0.005,
        adam_decay: float = 5e-4,
        prompt_first_task: bool = False,
        scorer_without_bias: bool = False,
        balanced_loss: bool = False,
        shared_head: bool = False,
        routing: str = "prototype",
        progress: Optional[bool] = None,
    ) -> None:
        values = dict(locals())
        super().__init__(**{name: value for name, value in values.items() if name not in ("self", "__class__")})


def load(folder: Folder, *, progress: Optional[bool] = None) -> Model:
    """The model in a folder, whether Python or the command line wrote it."""
    native = _native.Model.load(os.fspath(folder))
    kinds = {kind._learner: kind for kind in (TreeRing, TPP)}
    return kinds[native.learner()]._of(native, progress)
