"""What twins and short runs of a large link get wrong, and what they cost: docs/capacity.md."""

from bufferlab.evidence.scaling.twins import Scaling, study_scaling

__all__ = ["Scaling", "study_scaling"]
