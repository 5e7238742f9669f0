"""What theory says of congestion controls, against simulation: claims and tables of docs/controls.md."""
