"""What runs measured: frames, figures and their summary, result folders."""
