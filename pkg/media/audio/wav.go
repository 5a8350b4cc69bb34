package audio

import (
	"encoding/binary"
)

// The codes of formats of WAV whose samples have a fixed size: integers, floating
// point, and either of them described by an extension.
const (
	wavPCM        = 1
	wavFloat      = 3
	wavExtensible = 0xfffe
)

// The bounds of sound in a WAV. No recording exceeds them, and players refuse more.
const (
	maxChannels      = 8
	minRate, maxRate = 1000, 384_000 // samples a second
	maxDepth         = 64            // bits
)

// WAV reads a RIFF/WAVE file. Its length follows from the size of the data chunk and of its samples, and for a
// compressed file from the byte rate that it claims.
func (f File) WAV() (Sound, error) {
	var byteRate int64
	var claimed bool
	// The header takes 12 bytes. It is followed by chunks: a name, a length, and that many bytes, padded to an even
	// number.
	for offset, n := int64(12), 0; ; n++ {
		if n > maxBoxes {
			return Sound{}, Unsupported("audio/wav of more than %d chunks", maxBoxes)
		}
		var header [8]byte
		if err := f.At(offset, header[:]); err != nil {
			return Sound{}, err
		}
		name, length := string(header[:4]), int64(binary.LittleEndian.Uint32(header[4:]))
		offset += int64(len(header))
		switch name {
		case "fmt ":
			var format [16]byte
			if err := f.At(offset, format[:]); err != nil {
				return Sound{}, err
			}
			u16 := func(at int) int64 { return int64(binary.LittleEndian.Uint16(format[at:])) }
			channels, rate := u16(2), int64(binary.LittleEndian.Uint32(format[4:]))
			if channels < 1 || channels > maxChannels || rate < minRate || rate > maxRate {
				return Sound{}, Unsupported("audio/wav of %d channels and %d samples a second", channels, rate)
			}
			byteRate, claimed = int64(binary.LittleEndian.Uint32(format[8:])), true
			if code := u16(0); code == wavPCM || code == wavFloat || code == wavExtensible {
				if depth := u16(14); depth < 1 || depth > maxDepth {
					return Sound{}, Unsupported("audio/wav of %d bits a sample", depth)
				}
				byteRate, claimed = rate*channels*((u16(14)+7)/8), false
			}
		case "data":
			if byteRate == 0 {
				return Sound{}, Unsupported("audio/wav without a byte rate before its data")
			}
			// A file written as a stream claims more than it contains.
			length = min(length, f.Size-offset)
			return Sound{MIMEType: "audio/wav", Ext: "wav", Duration: playing(length, byteRate), To: offset + length,
				claimed: claimed}, nil
		}
		offset += length + length%2
	}
}
