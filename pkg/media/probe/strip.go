package probe

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"slices"

	"github.com/content-automation/api/pkg/media/picture"
)

// The functions below read files that were decoded. They omit parts that they do not understand.

// Markers of JPEG (ITU-T T.81, table B.1).
const (
	jpegStart   = 0xd8
	jpegEnd     = 0xd9
	jpegApp     = 0xe0 // to 0xef
	jpegComment = 0xfe
)

var (
	xmpMark      = []byte("http://ns.adobe.com/xap/1.0/\x00")
	manifestMark = []byte("JP") // a manifest of C2PA is in JUMBF
	duckyMark    = []byte("Ducky")
)

// encoders are the notes of programs that say how a picture was encoded, and nothing else.
var encoders = regexp.MustCompile(`^(Lavc[0-9.]+|Lavf[0-9.]+|CREATOR: gd-jpeg v[ -~]{1,60}|` +
	`Compressed by jpeg-recompress|Optimized by JPEGmini [ -~]{1,60}|File written by Adobe Photoshop[ -~]{0,20}|` +
	`LEAD Technologies Inc\. V[0-9.]+|AppleMark|Intel\(R\) (JPEG|IPP)[ -~]{1,60})\s*\x00?$`)

// stripJPEG keeps the segments that a decoder needs, the color profile, and the manifest of C2PA.
func stripJPEG(content []byte, notes bool) []byte {
	kept := []byte{0xff, jpegStart}
	picture.Segments(content, func(marker byte, segment []byte) {
		body := segment[min(4, len(segment)):]
		stays := false
		switch {
		case marker == jpegComment:
			stays = notes && encoders.Match(body)
		case marker == jpegApp+1:
			stays = notes && bytes.HasPrefix(body, xmpMark)
		case marker == jpegApp+2:
			stays = bytes.HasPrefix(body, picture.ProfileMark)
		case marker == jpegApp+11:
			stays = bytes.HasPrefix(body, manifestMark)
		case marker == jpegApp+12: // the quality of an encoder of Adobe
			stays = notes && bytes.HasPrefix(body, duckyMark)
		case marker == jpegApp+14: // defines the color space
			stays = true
		default:
			stays = marker <= jpegApp || marker > jpegApp+15
		}
		if stays {
			kept = append(kept, segment...)
		}
	})
	return append(kept, 0xff, jpegEnd)
}

// withManifest copies the manifest of C2PA from a file without metadata into one that was turned, whose signature does
// not fit it: what signs the turned file has it as the parent.
func withManifest(into, from []byte, mimeType string) []byte {
	var manifest []byte
	begin := 2
	switch mimeType {
	case "image/jpeg":
		picture.Segments(from, func(marker byte, segment []byte) {
			if marker == jpegApp+11 {
				manifest = append(manifest, segment...)
			}
		})
	case "image/png":
		begin = 33 // behind the header
		picture.Chunks(from, func(c picture.Chunk) bool {
			if c.Name == "caBX" {
				manifest = append(manifest, c.All...)
			}
			return true
		})
	}
	return slices.Concat(into[:begin], manifest, into[begin:])
}

// pngChunks are the chunks of a picture, and the one with a manifest of C2PA.
var pngChunks = []string{"caBX", "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP",
	"sBIT", "bKGD", "pHYs"}

var (
	xmpText      = []byte("XML:com.adobe.xmp\x00")
	softwareText = []byte("Software\x00")
)

// stripPNG keeps the chunks of the picture, and its manifest. A chunk with a wrong checksum goes.
func stripPNG(content []byte, notes bool) []byte {
	const signature = 8
	kept := slices.Clone(content[:signature])
	picture.Chunks(content, func(c picture.Chunk) bool {
		stays := slices.Contains(pngChunks, c.Name)
		switch c.Name {
		case "iTXt":
			stays = notes && bytes.HasPrefix(c.Body, xmpText)
		case "tEXt":
			stays = notes && bytes.HasPrefix(c.Body, softwareText)
		}
		if stays && c.Right {
			kept = append(kept, c.All...)
		}
		return true
	})
	return kept
}

// stripWebP removes the chunks of EXIF and XMP, and the flags that announce them.
func stripWebP(content []byte, notes bool) []byte {
	const signature, frame = 12, 8
	const hasEXIF, hasXMP = 1 << 3, 1 << 2
	kept := slices.Clone(content[:signature])
	gone := byte(hasEXIF | hasXMP)
	if notes {
		gone = hasEXIF
	}
	for at := int64(signature); at+frame <= int64(len(content)); {
		length := int64(binary.LittleEndian.Uint32(content[at+4:]))
		end := min(at+frame+length+length%2, int64(len(content)))
		switch name := string(content[at : at+4]); name {
		case "VP8X":
			extended := slices.Clone(content[at:end])
			extended[min(frame, len(extended)-1)] &^= gone
			kept = append(kept, extended...)
		case "XMP ":
			if notes {
				kept = append(kept, content[at:end]...)
			}
		case "VP8 ", "VP8L", "ALPH", "ICCP", "C2PA":
			kept = append(kept, content[at:end]...)
		}
		at = end
	}
	binary.LittleEndian.PutUint32(kept[4:], uint32(len(kept)-8))
	return kept
}
