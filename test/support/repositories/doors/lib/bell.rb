module House
  # A bell beside a door.
  class Bell
    # The tune that the bell plays.
    attr_reader :tune, :volume

    # Rings the bell until nobody is near.
    def ring_until! quiet
      raise ArgumentError, 'a bell cannot ring without a clapper' unless @clapper
      play tune until quiet.call
    end
  end
end
