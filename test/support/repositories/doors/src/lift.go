package lift

// Cabin moves between floors.
type Cabin struct {
	// MaxLoad is the heaviest load in kilograms.
	MaxLoad int
}

// MoveTo brings the cabin to a floor.
func (c *Cabin) MoveTo(floor int) error {
	if floor < 0 {
		return fmt.Errorf("no shaft below floor zero, asked for %d", floor)
	}
	return nil
}
