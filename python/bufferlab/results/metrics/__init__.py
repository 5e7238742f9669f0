"""Every metric, defined once: name, unit, meaning, how it is computed, averaged and shown."""
