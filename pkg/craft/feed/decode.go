package feed

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	encodings "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/content-automation/api/pkg/base/text"
)

// unpackedFile is a feed, which may be compressed by gzip. Seek goes back to its beginning.
type unpackedFile struct {
	file io.ReadSeeker
	io.Reader
	// packed is the number of times that gzip has packed it: a server may pack the packed file of a shop again.
	packed int
}

// mostPacked bounds it.
const mostPacked = 2

// unpacked returns the bytes of a feed from its beginning, without gzip.
func unpacked(file io.ReadSeeker) (*unpackedFile, error) {
	u := &unpackedFile{file: file}
	for {
		if err := u.rewind(); err != nil {
			return nil, err
		}
		first := make([]byte, 4)
		n, err := io.ReadFull(u.Reader, first)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
			return nil, err
		}
		switch first = first[:n]; {
		case string(first) == "PK\x03\x04", string(first) == "\xd0\xcf\x11\xe0":
			return nil, fault("The feed is a ZIP file or a workbook of Excel. Send the file that is in it, or save " +
				"the workbook as CSV UTF-8.")
		case !bytes.HasPrefix(first, []byte{0x1f, 0x8b}):
			return u, u.rewind()
		}
		if u.packed++; u.packed > mostPacked {
			return nil, fault("The feed is packed by gzip more than twice.")
		}
	}
}

func (u *unpackedFile) rewind() error {
	_, err := u.file.Seek(0, io.SeekStart)
	u.Reader = u.file
	for i := 0; err == nil && i < u.packed; i++ {
		var z *gzip.Reader
		switch z, err = gzip.NewReader(bufio.NewReader(u.Reader)); {
		case errors.Is(err, gzip.ErrHeader), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return fault("The feed begins like a file of gzip, and is none.")
		case err == nil:
			u.Reader = &gzipReader{Reader: z, left: MaxBytes + 1}
		}
	}
	return err
}

// gzipReader ends a file that unpacks into more than a feed may have.
type gzipReader struct {
	io.Reader
	left int64
}

// Read implements io.Reader.
func (g *gzipReader) Read(p []byte) (int, error) {
	if g.left <= 0 {
		return 0, fault("The feed is larger than %d MB once it is unpacked.", MaxBytes>>20)
	}
	n, err := g.Reader.Read(p[:min(int64(len(p)), g.left)])
	g.left -= int64(n)
	if err != nil && err != io.EOF {
		return n, fault("The feed is damaged: gzip ends it with %q.", strings.TrimPrefix(err.Error(), "gzip: "))
	}
	return n, err
}

// decoded returns a feed as UTF-8 without a byte order mark. A mark wins, then UTF-8, then the encoding that the XML or
// the server declares. What is left is the encoding in whose languages the feed makes sense. A few bytes that are no
// UTF-8, as of a text that was cut within a letter, become marks of their rows.
func decoded(u *unpackedFile, o Options) (io.Reader, error) {
	head := make([]byte, 1024)
	n, err := io.ReadFull(u, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return nil, err
	}
	head = head[:n]
	var from encoding.Encoding
	switch wide := text.Wide(head); {
	case wide != nil:
		from = wide
	case bytes.HasPrefix(head, []byte(text.ByteOrderMark)):
		from = encodings.UTF8
	default:
		v, err := look(io.MultiReader(bytes.NewReader(head), u))
		if err != nil {
			return nil, err
		}
		if v.letters >= v.broken {
			if v.broken > 0 {
				from = encodings.UTF8
			}
			break
		}
		if from = text.Declared(head, ""); from != nil {
			break
		}
		from = text.Declared(nil, o.Charset)
		// Servers name windows-1252, or ISO 8859-1, which is read as that, for what they do not know.
		if _, name := charset.Lookup(o.Charset); from == nil || name == "windows-1252" {
			if from, err = guessed(v.sample); err != nil {
				return nil, err
			}
		}
	}
	if err := u.rewind(); err != nil {
		return nil, err
	}
	if from == nil {
		return withoutMark(u), nil
	}
	return withoutMark(transform.NewReader(u, from.NewDecoder())), nil
}

// withoutMark removes a byte order mark.
func withoutMark(r io.Reader) io.Reader {
	b := bufio.NewReaderSize(r, 64<<10)
	if mark, err := b.Peek(len(text.ByteOrderMark)); err == nil && string(mark) == text.ByteOrderMark {
		_, _ = b.Discard(len(text.ByteOrderMark))
	}
	return b
}

// view is what look has found.
type view struct {
	// letters is the number of characters beyond ASCII in UTF-8, and broken that of bytes that are in none.
	letters, broken int
	// sample has the first words of bytes beyond ASCII, with a space behind each.
	sample []byte
}

// mostSampled bounds a sample, and leastSampled is the size from which one tells that an encoding is none of those that
// are known.
const (
	mostSampled  = 8 << 10
	leastSampled = 4
)

// look reads a text to its end.
func look(r io.Reader) (v view, err error) {
	buffer, kept := make([]byte, 64<<10), 0
	for err == nil {
		var n int
		n, err = r.Read(buffer[kept:])
		text := buffer[:kept+n]
		for _, b := range text[kept:] {
			n := len(v.sample)
			switch {
			case n == mostSampled:
			case b >= utf8.RuneSelf:
				v.sample = append(v.sample, b)
			case n > 0 && v.sample[n-1] != ' ':
				v.sample = append(v.sample, ' ')
			}
		}
		for len(text) > 0 && (utf8.FullRune(text) || err == io.EOF) {
			char, size := utf8.DecodeRune(text)
			switch {
			case char == utf8.RuneError && size == 1:
				v.broken++
			case size > 1:
				v.letters++
			}
			text = text[size:]
		}
		kept = copy(buffer, text)
	}
	if err != io.EOF {
		var f *FaultError
		if !errors.As(err, &f) {
			err = fmt.Errorf("feed: read: %w", err)
		}
		return v, err
	}
	return v, nil
}

// legacy is an encoding of old systems, with alphabets of the languages that are written in it: their letters beyond
// ASCII, and signs of shops.
type legacy struct {
	of        *charmap.Charmap
	alphabets string
}

const (
	// measures are signs of sizes, which most encodings have in one place.
	measures = "×÷µ±"
	// western lacks rare letters of the west that stand where Polish, Hungarian and Turkish ones do.
	western = "äöüßéèêëàâçîïôùœæøåñáíóúãìò£²½€¿¡ªº"
	// cubic has signs that stand where Polish letters do, and few letters that stand where others of Polish do.
	cubic = "äöüßéèàâçùåø²³¹¼½¾´€£" + measures
	// central has Polish, Czech and Slovak.
	central = "ąćęłńóśźż" + measures + " áčďéěíňóřšťúůýž" + measures + " áäčďéíľňóôŕšťúýž" + measures
	russian = "абвгдежзийклмнопрстуфхцчшщъыьэюяё"
)

// latin has encodings of the west with Icelandic, Portuguese and Estonian, then Hungarian, Romanian and Croatian, then
// Turkish, whose İ is i in lower case, then Lithuanian and Latvian.
var latin = []legacy{
	{charmap.Windows1252, western + measures + " " + cubic + " áðéíóúýþæö áâãàçéêíóôõú äõöüšž"},
	{charmap.ISO8859_15, western + measures},
	{charmap.Macintosh, western}, {charmap.CodePage850, western},
	{charmap.Windows1250, central + " áéíóöőúüű ăâîşţ čćđšž"}, {charmap.ISO8859_2, central},
	{charmap.Windows1254, "çğıiöşüâî" + measures}, {charmap.Windows1257, "ąčęėįšųūž" + measures + " āčēģīķļņšūž"},
}

// others has encodings of scripts without letters of ASCII: Hebrew, Greek, Arabic and Persian, and Cyrillic ones.
var others = []legacy{
	{charmap.Windows1255, "אבגדהוזחטיךכלםמןנסעףפץצקרשת"},
	{charmap.Windows1253, "αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋ"},
	{charmap.Windows1256, "ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىيپچژگ"},
	{charmap.Windows1251, russian + " іїєґ" + russian + " абвгдђежзијклљмнњопрстћуфхцчџш"}, {charmap.KOI8R, russian},
}

// signs are the bytes of marks that stand at the same place in all encodings of Windows, and of spaces.
const signs = " \x80\x82\x84\x85\x86\x87\x89\x8b\x91\x92\x93\x94\x95\x96\x97\x99\x9b\xa0\xa7\xa9\xab\xad" +
	"\xae\xb0\xb7\xbb"

// guessed returns the encoding of which a sample has letters of one language, none of them large behind a small one.
// Text in other encodings, such as GBK, is refused: it would be read as wrong letters.
func guessed(sample []byte) (encoding.Encoding, error) {
	const enough = 0.85
	together, apart := 0, 0
	for run := range bytes.FieldsSeq(sample) {
		if len(run) < 3 {
			apart += len(run)
		} else {
			together += len(run)
		}
	}
	known := latin
	if together > apart {
		known = others
	}
	best, total, from := -1, 0, charmap.Windows1252
	for _, l := range known {
		for alphabet := range strings.FieldsSeq(l.alphabets) {
			if n, all := fits(sample, l.of, alphabet); n > best {
				best, total, from = n, all, l.of
			}
		}
	}
	if total >= leastSampled && float64(best) < enough*float64(total) {
		return nil, fault("The encoding of the feed is not clear. Write it in UTF-8, or name the encoding in its XML.")
	}
	return from, nil
}

// fits returns how many bytes of a sample are letters of an alphabet in an encoding, and how many are no signs.
func fits(sample []byte, of *charmap.Charmap, alphabet string) (n, all int) {
	small := false
	for _, b := range sample {
		r := of.DecodeByte(b)
		if strings.IndexByte(signs, b) < 0 {
			all++
			if strings.ContainsRune(alphabet, unicode.ToLower(r)) && !(small && unicode.IsUpper(r)) {
				n++
			}
		}
		small = unicode.IsLower(r)
	}
	return n, all
}
