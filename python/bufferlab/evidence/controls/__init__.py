"""What theory says of congestion controls, against simulation: tables and figure of docs/controls.md."""

from bufferlab.evidence.controls.comparisons import Controls, study_controls

__all__ = ["Controls", "study_controls"]
