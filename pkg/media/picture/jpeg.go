package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/jpeg"
	"io"
	"slices"
)

// Markers of JPEG (ITU-T T.81, table B.1).
const (
	jpegRestart = 0xd0 // to 0xd7
	jpegEnd     = 0xd9
	jpegScan    = 0xda
	jpegApp     = 0xe0 // to 0xef
)

var (
	// ExifMark begins the segment of a JPEG with EXIF.
	ExifMark = []byte("Exif\x00\x00")
	// ProfileMark begins the segments of a JPEG with a color profile.
	ProfileMark = []byte("ICC_PROFILE\x00")
	adobeMark   = []byte("Adobe")
)

// Segments calls f with the segments between the start of a JPEG and its end. The segment of a scan includes its data.
// It finds the segments that a decoder finds: bytes between segments are skipped.
func Segments(content []byte, f func(marker byte, segment []byte)) {
	at := 2
	for at+4 <= len(content) {
		marker := content[at+1]
		switch {
		case content[at] != 0xff || marker == 0xff: // filling
			at++
			continue
		case marker == 0 || marker&0xf8 == jpegRestart:
			at += 2
			continue
		case marker == jpegEnd:
			return
		}
		end := at + 2 + int(binary.BigEndian.Uint16(content[at+2:]))
		if marker == jpegScan {
			end += scanned(content[min(end, len(content)):])
		}
		if end > len(content) {
			return
		}
		f(marker, content[at:end])
		at = end
	}
}

// scanned returns the number of bytes of a scan's data.
func scanned(data []byte) int {
	for i := 0; i+1 < len(data); i++ {
		next := data[i+1]
		if data[i] == 0xff && next != 0 && next != 0xff && next&0xf8 != jpegRestart {
			return i
		}
	}
	return len(data)
}

// Colors are what the header of a JPEG says of its values.
type Colors struct {
	// Components is the number of values of a pixel: 1, 3 or 4.
	Components int
	// Adobe is set for a file with the mark of Adobe, whose inks are inverted.
	Adobe bool
	// Profile is the color profile of so many components, or nil.
	Profile []byte
}

// ColorsOf reads the beginning of a JPEG, up to its first frame. It reports whether that is there.
func ColorsOf(head []byte) (c Colors, ok bool) {
	if len(head) < 4 || head[0] != 0xff {
		return c, false
	}
	var parts [256][]byte
	Segments(head, func(marker byte, segment []byte) {
		body := segment[min(4, len(segment)):]
		switch {
		case ok:
		case marker == jpegApp+2 && bytes.HasPrefix(body, ProfileMark) && len(body) > len(ProfileMark)+2:
			parts[body[len(ProfileMark)]] = body[len(ProfileMark)+2:]
		case marker == jpegApp+14:
			c.Adobe = bytes.HasPrefix(body, adobeMark)
		case marker >= 0xc0 && marker <= 0xc2 && len(body) > 5:
			c.Components, ok = int(body[5]), true
		}
	})
	const named = 20 // the name of the space is behind so many bytes
	profile := slices.Concat(parts[:]...)
	space := map[int]string{1: "GRAY", 3: "RGB ", 4: "CMYK"}[c.Components]
	if bounded(profile) && string(profile[named-4:named]) == space {
		c.Profile = profile
	}
	return c, ok
}

// jpeg reads the segments of a JPEG.
func (p *Picture) jpeg() error {
	var parts [256][]byte // of the profile, by their numbers
	transformed := true   // as JFIF has it: luma and color differences
	components, scans := []byte(nil), 0
	progressive := false
	Segments(p.content, func(marker byte, segment []byte) {
		body := segment[min(4, len(segment)):]
		switch {
		case marker == jpegApp+1 && bytes.HasPrefix(body, ExifMark):
			p.Orientation = orientationOf(body[len(ExifMark):])
		case marker == jpegApp+2 && bytes.HasPrefix(body, ProfileMark):
			if rest := body[len(ProfileMark):]; len(rest) > 2 {
				parts[rest[0]] = rest[2:]
			}
		case marker == jpegApp+14 && bytes.HasPrefix(body, adobeMark) && len(body) >= 12:
			transformed = body[11] != 0
		case marker >= 0xc0 && marker <= 0xc2 && components == nil && len(body) > 6:
			p.stored = image.Pt(int(binary.BigEndian.Uint16(body[3:])), int(binary.BigEndian.Uint16(body[1:])))
			components, progressive = body[6:min(6+each*int(body[5]), len(body))], marker == 0xc2
		case marker == jpegScan:
			scans++
		}
	})
	if components == nil {
		return broken("a JPEG without a frame")
	}
	p.profile = slices.Concat(parts[:]...)
	p.scans = max(scans, 1)
	p.plain = len(components)/each == 1 || len(components)/each == 3 && transformed
	p.perPixel = jpegMemory(components, progressive, transformed)
	return nil
}

// each is the number of bytes of a component in the header of a frame.
const each = 3

// jpegMemory returns the bytes that the decoder holds for each pixel: the values of each component, its coefficients if
// there are several scans, and the picture that is made of them unless it is luma and color differences.
func jpegMemory(components []byte, progressive, transformed bool) float64 {
	n := len(components) / each
	most, sum := 1, 0
	for i := range n {
		area := int(components[each*i+1]>>4) * int(components[each*i+1]&15)
		most, sum = max(most, area), sum+area
	}
	memory := 1.
	if n > 1 {
		memory = float64(sum) / float64(most)
	}
	if progressive {
		memory *= 5
	}
	if n == 4 || n == 3 && !transformed {
		memory += 4
	}
	return memory
}

// Whole returns a JPEG with its end, which some programs leave out, and players do not need.
func Whole(content []byte) []byte {
	switch n := len(content); {
	case n < 4 || bytes.Contains(content[n-min(n, 1<<10):], []byte{0xff, jpegEnd}):
		return content
	case content[n-1] == 0xff:
		return append(content[:n:n], jpegEnd)
	default:
		return append(content[:n:n], 0xff, jpegEnd)
	}
}

func decodeJPEG(ctx context.Context, content []byte) (image.Image, error) {
	img, err := jpeg.Decode(&timely{ctx, bytes.NewReader(content)})
	if errors.Is(err, io.ErrUnexpectedEOF) && len(Whole(content)) > len(content) {
		return jpeg.Decode(&timely{ctx, bytes.NewReader(Whole(content))})
	}
	return img, err
}

// orientationOf reads the orientation of the first picture of a TIFF structure, or returns 1 if it has none.
func orientationOf(tiff []byte) int {
	const tag, entry = 0x0112, 12
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if tiff[0] == 'I' {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 1
	}
	count := int64(order.Uint16(tiff[at:]))
	for at += 2; count > 0 && at+entry <= int64(len(tiff)); count, at = count-1, at+entry {
		if order.Uint16(tiff[at:]) == tag {
			if o := int(order.Uint16(tiff[at+8:])); o >= 1 && o <= 8 {
				return o
			}
		}
	}
	return 1
}
