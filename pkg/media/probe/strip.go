package probe

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// The functions below read files that were decoded. They omit parts that they do not understand.

// Markers of JPEG (ITU-T T.81, table B.1).
const (
	jpegRestart = 0xd0 // to 0xd7
	jpegStart   = 0xd8
	jpegEnd     = 0xd9
	jpegScan    = 0xda
	jpegApp     = 0xe0 // to 0xef
	jpegComment = 0xfe
)

var (
	exifMark    = []byte("Exif\x00\x00")
	profileMark = []byte("ICC_PROFILE\x00")
)

// stripJPEG keeps the segments that a decoder needs, the color profile, and the manifest of C2PA.
func stripJPEG(content []byte) (kept []byte, orientation int) {
	orientation = 1
	kept = append(kept, 0xff, jpegStart)
	segments(content, func(marker byte, segment []byte) {
		body := segment[min(4, len(segment)):]
		switch {
		case marker == jpegApp+1 && bytes.HasPrefix(body, exifMark):
			orientation = orientationOf(body[len(exifMark):])
		case marker == jpegApp+2 && !bytes.HasPrefix(body, profileMark):
		case marker == jpegComment:
		case marker == jpegApp+11 && bytes.HasPrefix(body, []byte("JP")): // a manifest of C2PA is in JUMBF
			kept = append(kept, segment...)
		// 14 defines the color space.
		case marker > jpegApp && marker <= jpegApp+15 && marker != jpegApp+2 && marker != jpegApp+14:
		default:
			kept = append(kept, segment...)
		}
	})
	return append(kept, 0xff, jpegEnd), orientation
}

// segments calls f with the segments between the start of a JPEG and its end. The segment of a scan includes its data.
// It finds the segments that a decoder finds: bytes between segments are skipped.
func segments(content []byte, f func(marker byte, segment []byte)) {
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

// withProfile copies the color profile of one JPEG into another.
func withProfile(into, from []byte) []byte {
	var profile []byte
	segments(from, func(marker byte, segment []byte) {
		if marker == jpegApp+2 {
			profile = append(profile, segment...)
		}
	})
	return slices.Concat(into[:2], profile, into[2:])
}

// pngChunks are the chunks of a picture, and the one with a manifest of C2PA.
var pngChunks = []string{"caBX", "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "sBIT", "bKGD",
	"pHYs"}

// stripPNG keeps the chunks of the picture, and its manifest.
func stripPNG(content []byte) (kept []byte, orientation int) {
	const signature, frame = 8, 12 // a length, a name and a checksum are around each chunk
	kept = slices.Clone(content[:signature])
	for at := int64(signature); at+frame <= int64(len(content)); {
		end := at + frame + int64(binary.BigEndian.Uint32(content[at:]))
		if end > int64(len(content)) {
			break
		}
		name := string(content[at+4 : at+8])
		if slices.Contains(pngChunks, name) {
			kept = append(kept, content[at:end]...)
		}
		if name == "IEND" {
			break
		}
		at = end
	}
	return kept, 1
}

// stripWebP removes the chunks of EXIF and XMP, and the flags that announce them.
func stripWebP(content []byte) (kept []byte, orientation int) {
	const signature, frame = 12, 8
	const hasMetadata = 1<<3 | 1<<2 // of EXIF, of XMP
	kept = slices.Clone(content[:signature])
	for at := int64(signature); at+frame <= int64(len(content)); {
		length := int64(binary.LittleEndian.Uint32(content[at+4:]))
		end := min(at+frame+length+length%2, int64(len(content)))
		switch name := string(content[at : at+4]); name {
		case "EXIF", "XMP ":
		case "VP8X":
			extended := slices.Clone(content[at:end])
			extended[min(frame, len(extended)-1)] &^= hasMetadata
			kept = append(kept, extended...)
		case "VP8 ", "VP8L", "ALPH", "ICCP", "C2PA":
			kept = append(kept, content[at:end]...)
		}
		at = end
	}
	binary.LittleEndian.PutUint32(kept[4:], uint32(len(kept)-8))
	return kept, 1
}
