"""Alarms of a house."""

DEFAULT_DELAY = 30


class Alarm:
    """Rings when a door is forced."""

    def __init__(self, delay=DEFAULT_DELAY):
        #: Seconds before the alarm rings.
        self.delay = delay

    def arm_zone(self, zone):
        """Arms a zone.

        Returns the armed zones.
        """
        if zone not in self.zones:
            raise KeyError(
                "This zone has no sensors, "
                "so it cannot be armed."
            )
        return self.zones
