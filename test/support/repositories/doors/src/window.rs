/// A window in a wall.
pub struct Window {
    /// Number of panes.
    pub panes: u8,
}

impl Window {
    /// Tilts the window by an angle.
    pub fn tilt_by(&mut self, angle: f32) -> Result<(), String> {
        if angle > 30.0 {
            return Err("a window tilts by thirty degrees at most".into());
        }
        Ok(())
    }
}
