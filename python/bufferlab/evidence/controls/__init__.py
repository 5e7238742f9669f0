"""What theory says of congestion controls, against simulation: tables and figure of docs/controls.md."""

from bufferlab.evidence.controls.study import Controls, study_controls

__all__ = ["Controls", "study_controls"]
