package probe

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/content-automation/api/pkg/media/audio"
)

// What files of other formats are to be converted to.
const (
	toPicture = "Convert it to JPEG, PNG or WebP."
	toMoving  = "Convert it to PNG, or to MP4 if it moves."
	toDrawn   = "Export it as PNG or JPEG."
	toVideo   = "Convert it to MP4 with H.264 and AAC."
	toSound   = "Convert it to MP3, M4A with AAC, or WAV."
	toPlain   = "Take the pictures, recordings and videos out of it, and send each as a file of its own."
)

// others are the formats that are not taken, by how they begin. The first that fits is that of the file.
var others = []struct {
	at     int64
	magic  string
	what   string // with an article
	advice string
}{
	{0, "GIF8", "a GIF picture", toMoving},
	{0, "BM", "a BMP picture", toPicture},
	{0, "II*\x00", "a TIFF or raw picture of a camera", toPicture},
	{0, "MM\x00*", "a TIFF or raw picture of a camera", toPicture},
	{0, "II+\x00", "a BigTIFF picture", toPicture},
	{0, "MM\x00+", "a BigTIFF picture", toPicture},
	{0, "IIU\x00", "a raw picture of a camera (RW2)", toPicture},
	{0, "IIRO", "a raw picture of a camera (ORF)", toPicture},
	{0, "FUJIFILMCCD-RAW", "a raw picture of a camera (RAF)", toPicture},
	{0, "\x00\x00\x00\x0cJXL \r\n\x87\n", "a JPEG XL picture", toPicture},
	{0, "\xff\x0a", "a JPEG XL picture", toPicture},
	{0, "\x00\x00\x00\x0cjP  \r\n\x87\n", "a JPEG 2000 picture", toPicture},
	{0, "\xff\x4f\xff\x51", "a JPEG 2000 picture", toPicture},
	{0, "8BPS", "a Photoshop file (PSD)", toDrawn},
	{0, "gimp xcf", "a GIMP file (XCF)", toDrawn},
	{0, "\x00\x00\x01\x00", "an icon (ICO)", toPicture},
	{0, "\x00\x00\x02\x00", "a cursor (CUR)", toPicture},
	{0, "qoif", "a QOI picture", toPicture},
	{0, "v/1\x01", "an OpenEXR picture", toPicture},
	{0, "#?RADIANCE", "a Radiance HDR picture", toPicture},
	{0, "DDS ", "a DDS texture", toPicture},
	{0, "\x8aMNG\r\n\x1a\n", "an MNG animation", toMoving},
	{0, "%PDF", "a PDF document", toDrawn},
	{0, "%!PS", "a PostScript or Illustrator file", toDrawn},
	{0, "\xc5\xd0\xd3\xc6", "an EPS file", toDrawn},
	{0, "\x1aE\xdf\xa3", "a Matroska video (MKV)", toVideo},
	{0, "FLV\x01", "an FLV video", toVideo},
	{0, "OggS", "an Ogg file", toSound},
	{0, "fLaC", "a FLAC recording", toSound},
	{0, "#!AMR", "an AMR recording", toSound},
	{0, "caff", "a CAF recording of Apple", toSound},
	{0, ".snd", "an AU recording", toSound},
	{0, "wvpk", "a WavPack recording", toSound},
	{0, "MAC ", "a Monkey's Audio recording", toSound},
	{0, "ADIF", "an AAC recording in the form ADIF", toSound},
	{0, "MThd", "a MIDI file, which has notes and no sound", "Record it, and send it as MP3, M4A or WAV."},
	{0, "riff\x2e\x91\xcf\x11", "a Wave64 recording", toSound},
	{0, "0&\xb2u\x8ef\xcf\x11\xa6\xd9\x00\xaa\x00b\xcel", "a Windows Media file (WMA, WMV or ASF)",
		"Convert a video to MP4 with H.264 and AAC, and a recording to MP3."},
	{0, ".RMF", "a RealMedia file", toVideo},
	{0, "\x00\x00\x01\xba", "an MPEG program stream (MPG or VOB)", toVideo},
	{0, "\x00\x00\x01\xb3", "an MPEG video", toVideo},
	{0, "\x00\x00\x00\x01", "a raw stream of H.264 or H.265", toVideo},
	{0, "PK\x03\x04", "a ZIP archive or an office document", toPlain},
	{0, "PK\x05\x06", "an empty ZIP archive", toPlain},
	{0, "Rar!\x1a\x07", "a RAR archive", toPlain},
	{0, "7z\xbc\xaf\x27\x1c", "a 7-Zip archive", toPlain},
	{0, "\x1f\x8b", "a file compressed with gzip", "Unpack it, and send what is in it."},
	{0, "BZh", "a file compressed with bzip2", "Unpack it, and send what is in it."},
	{0, "\xfd7zXZ\x00", "a file compressed with xz", "Unpack it, and send what is in it."},
	{0, "\x28\xb5\x2f\xfd", "a file compressed with Zstandard", "Unpack it, and send what is in it."},
	{257, "ustar", "a TAR archive", toPlain},
	{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an office document of the old form (DOC, XLS or PPT)", toPlain},
	{0, "{\\rtf", "an RTF document", toPlain},
	{0, "SQLite format 3\x00", "an SQLite database", toPlain},
	{0, "\x7fELF", "a program", toPlain},
	{0, "MZ", "a program", toPlain},
	{0, "WEBVTT", "a file of captions (WebVTT)", "Captions are made from the script of a video."},
}

// riffs are the formats in RIFF and in IFF that are not taken, by the kind behind their length.
var riffs = map[string][2]string{
	"RIFFAVI ": {"an AVI video", toVideo}, "RIFFRMID": {"a MIDI file, which has notes and no sound",
		"Record it, and send it as MP3, M4A or WAV."}, "RIFFACON": {"an animated cursor", toMoving},
	"FORMAIFF": {"an AIFF recording", toSound}, "FORMAIFC": {"an AIFF recording", toSound},
	"FORMILBM": {"an IFF picture", toPicture}, "RIFFCDXA": {"a Video CD", toVideo},
}

// brands are the formats in the boxes of MP4 that are not taken, by the first brand.
var brands = map[string][2]string{
	"crx ": {"a raw picture of a Canon camera (CR3)", toPicture}, "jp2 ": {"a JPEG 2000 picture", toPicture},
	"jpx ": {"a JPEG 2000 picture", toPicture}, "jxl ": {"a JPEG XL picture", toPicture},
	"aax ": {"an encrypted audiobook", toSound}, "M4P ": {"an encrypted recording of iTunes", toSound},
	"msf1": {"a sequence of HEIF pictures", toPicture}, "hevc": {"a sequence of HEIC pictures", toPicture},
	"hevx": {"a sequence of HEIC pictures", toPicture}, "avis": {"a sequence of AVIF pictures", toMoving},
	"j2ki": {"a HEIF picture with JPEG 2000", toPicture}, "jpeg": {"a HEIF picture with JPEG", toPicture},
	"heic": {"a HEIC picture", toPicture}, "heix": {"a HEIC picture", toPicture}, "heim": {"a HEIC picture", toPicture},
	"heis": {"a HEIC picture", toPicture}, "mif1": {"a HEIF picture", toPicture}, "mif2": {"a HEIF picture", toPicture},
	"avif": {"an AVIF picture", toPicture},
}

// sniffed is the number of bytes at the beginning in which the format is looked for.
const sniffed = 1024

// unsupported returns the error of a file of a format that is not taken. It names the format, if it is known, and what
// to do.
func unsupported(r io.ReaderAt, size int64) error {
	head := make([]byte, min(size, sniffed))
	if err := (audio.File{R: r, Size: size}).At(0, head); err != nil {
		return err
	}
	if what, advice := named(head); what != "" {
		return &Refused{Message: fmt.Sprintf("The file is %s. %s", what, advice)}
	}
	return &Refused{Message: "The format of the file is not supported. Send one of " + formats() + "."}
}

// named returns the format of a file with an article, and what to do with it, or "" for one that is not known.
func named(head []byte) (what, advice string) {
	if len(head) >= 12 {
		if of, ok := riffs[string(head[:4])+string(head[8:12])]; ok {
			return of[0], of[1]
		}
		if of, ok := brands[string(head[8:12])]; ok && string(head[4:8]) == "ftyp" {
			return of[0], of[1]
		}
		switch string(head[4:8]) {
		case "moov", "mdat", "wide", "pnot":
			return "a QuickTime movie of an old form", "Export it as MP4 (H.264)."
		}
	}
	for _, o := range others {
		if int64(len(head)) >= o.at && bytes.HasPrefix(head[o.at:], []byte(o.magic)) {
			return streamed(head, o.what, o.advice)
		}
	}
	const packet = 188
	if len(head) > 2*packet && head[0] == 'G' && head[packet] == 'G' && head[2*packet] == 'G' {
		return "an MPEG transport stream (TS)", toVideo
	}
	if len(head) > 2 && head[0] == 0xff && head[1]&0xe0 == 0xe0 && head[1]&6 > 2 && head[1]&0x18 != 8 {
		return "an MPEG recording of layer I or II (MP2)", toSound
	}
	return textual(head)
}

// streamed distinguishes the formats that have the same beginning.
func streamed(head []byte, what, advice string) (string, string) {
	has := func(mark string) bool { return bytes.Contains(head, []byte(mark)) }
	switch {
	case what == "an Ogg file" && has("OpusHead"):
		return "an Opus recording", advice
	case what == "an Ogg file" && has("\x01vorbis"):
		return "an Ogg Vorbis recording", advice
	case what == "an Ogg file" && (has("\x80theora") || has("OVP80")):
		return "an Ogg video", toVideo
	case strings.HasPrefix(what, "a Matroska") && has("webm"):
		return "a WebM video", advice
	case what == "a BMP picture" && (len(head) < 18 || binary.LittleEndian.Uint32(head[6:]) != 0):
		return textual(head) // a text that begins with these letters
	case what == "a program" && head[0] == 'M' && bytes.IndexByte(head, 0) < 0:
		return textual(head)
	case has("word/"):
		return "a Word document", advice
	case has("xl/"):
		return "an Excel workbook", advice
	case has("ppt/"):
		return "a PowerPoint presentation", advice
	}
	return what, advice
}

// textual names the kinds of texts.
func textual(head []byte) (what, advice string) {
	for _, encoded := range []string{"\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(head, []byte(encoded)) {
			return "a text", "Send the file itself, and not a description of it."
		}
	}
	text := strings.ToLower(strings.TrimSpace(strings.TrimPrefix(string(head), byteOrderMark)))
	starts := func(marks ...string) bool {
		for _, m := range marks {
			if strings.HasPrefix(text, m) {
				return true
			}
		}
		return false
	}
	const page = "The address may lead to a page with the file, or need a sign-in. Send the address of the file itself."
	switch {
	case text == "" || strings.ContainsRune(text, 0):
		return "", ""
	case strings.Contains(text, "<svg") && starts("<"):
		return "an SVG drawing", toDrawn
	case starts("<!doctype html", "<html", "<head", "<body", "<script"):
		return "an HTML page", page
	case starts("<?xml", "<error", "<!doctype"):
		return "an XML document", page
	case starts("#extm3u"):
		return "a playlist (M3U8)", "Send the video or recording itself."
	case starts("data:"):
		return "a data URL", "Send the bytes that it encodes."
	case starts("{", "["):
		return "a JSON text", page
	}
	for _, b := range []byte(text) {
		if b < ' ' && b != '\n' && b != '\r' && b != '\t' {
			return "", ""
		}
	}
	if strings.ToValidUTF8(text[:max(0, len(text)-4)], "\x00") == text[:max(0, len(text)-4)] {
		return "a text", "Send the file itself."
	}
	return "", ""
}
