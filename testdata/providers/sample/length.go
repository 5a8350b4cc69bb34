package sample

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode"
)

// Spoken returns about the time that a provider takes to speak a text, a second at least. A character of the alphabets
// of Europe takes a twelfth of a second, and one that stands for a syllable or a word takes longer.
func Spoken(text string) (length time.Duration) {
	for _, r := range text {
		switch {
		case unicode.IsDigit(r):
			length += 500 * time.Millisecond
		case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana):
			length += 200 * time.Millisecond
		case !unicode.Is(unicode.Mn, r):
			length += time.Second / 12
		}
	}
	return max(length, time.Second)
}

// The rates of layer III in kilobits a second: of MPEG 1 (ISO/IEC 11172-3, 2.4.2.3), and of MPEG 2 (ISO/IEC 13818-3,
// 2.4.2.3), which has half the samples in a frame, and half of each frequency.
var rates = [2][16]int{{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
	{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}}

// frame returns the size and the time of a frame of layer III, or 0.
func frame(header []byte) (size int, plays time.Duration) {
	if len(header) < 4 || header[0] != 0xff || header[1]&0xf6 != 0xf2 {
		return 0, 0
	}
	half := int(^header[1] >> 3 & 1)
	bits, samples := rates[half][header[2]>>4]*1000, 1152>>half
	hertz := [...]int{44_100, 48_000, 32_000, 0}[header[2]>>2&3] >> half
	if bits == 0 || hertz == 0 {
		return 0, 0
	}
	return samples/8*bits/hertz + int(header[2]>>1&1), time.Second * time.Duration(samples) / time.Duration(hertz)
}

// mp3 repeats the frames of an MP3 for a time. The first frame, which counts those of the file, is left out.
func mp3(file []byte, length time.Duration) ([]byte, error) {
	at := 10 + int(file[9]) + int(file[8])<<7 + int(file[7])<<14 // the tag ID3 has seven bits in each byte of its size
	first, _ := frame(file[at:])
	frames, plays := [][]byte{}, time.Duration(0)
	for at += first; ; {
		size, time := frame(file[at:])
		if size == 0 || at+size > len(file) {
			break
		}
		frames, plays, at = append(frames, file[at:at+size]), time, at+size
	}
	if len(frames) == 0 {
		return nil, errors.New("sample: the file has no frames")
	}
	var out []byte
	for n := range max(int((length+plays/2)/plays), 1) {
		out = append(out, frames[n%len(frames)]...)
	}
	return out, nil
}

// box is a part of an MP4 (ISO/IEC 14496-12): its content, or the boxes in it.
type box struct {
	name    string
	content []byte
	parts   []*box
}

// containers are the boxes that consist of others.
var containers = []string{"moov", "trak", "edts", "mdia", "minf", "stbl"}

func boxes(b []byte) (all []*box) {
	for len(b) >= 8 {
		size := int(binary.BigEndian.Uint32(b))
		one := &box{name: string(b[4:8]), content: b[8:size]}
		if slices.Contains(containers, one.name) {
			one.parts = boxes(one.content)
		}
		all, b = append(all, one), b[size:]
	}
	return all
}

// find returns the first box below b with the names of a path.
func (b *box) find(path ...string) *box {
	for _, name := range path {
		at := slices.IndexFunc(b.parts, func(p *box) bool { return p.name == name })
		if at < 0 {
			return &box{}
		}
		b = b.parts[at]
	}
	return b
}

func (b *box) bytes() []byte {
	content := b.content
	if b.parts != nil {
		content = nil
		for _, p := range b.parts {
			content = append(content, p.bytes()...)
		}
	}
	return append(append(numbers(uint32(8+len(content))), b.name...), content...)
}

func numbers(all ...uint32) (b []byte) {
	for _, n := range all {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return b
}

// number returns a number of a box's content.
func (b *box) number(at int) int { return int(binary.BigEndian.Uint32(b.content[at:])) }

// put sets a number of the content, which is that of the box alone.
func (b *box) put(at int, n uint32) {
	b.content = slices.Clone(b.content)
	binary.BigEndian.PutUint32(b.content[at:], n)
}

// table returns the rows of a table of numbers, without the version and the number of rows.
func (b *box) table(columns int) (rows [][]int) {
	for n := range b.number(4) {
		row := make([]int, columns)
		for c := range row {
			row[c] = b.number(8 + 4*(n*columns+c))
		}
		rows = append(rows, row)
	}
	return rows
}

// mp4 repeats the pictures of an MP4, without its sound, for a time. All are of one length, and stored once. Seed makes
// the file differ from others.
func mp4(file []byte, length time.Duration, seed uint) ([]byte, error) {
	whole := &box{parts: boxes(file)}
	movie := whole.find("moov")
	video := movie.find("trak")
	tables := video.find("mdia", "minf", "stbl")
	if tables.name == "" || len(tables.find("stts").table(2)) != 1 {
		return nil, errors.New("sample: the first track is no video with pictures of one length")
	}
	pictures, orders, err := tables.pictures(file)
	if err != nil {
		return nil, err
	}
	scale, each := video.find("mdia", "mdhd").number(12), tables.find("stts").table(2)[0][1]
	count := max(int(length.Seconds()*float64(scale)/float64(each)+0.5), 1)

	stss, ctts, stsz := numbers(0, 0), numbers(0, uint32(count)), numbers(0, 0, uint32(count))
	for n := range count {
		if n%len(pictures) == 0 {
			stss = append(stss, numbers(uint32(n+1))...)
		}
		ctts = append(ctts, numbers(1, uint32(orders[n%len(pictures)]))...)
		stsz = append(stsz, numbers(uint32(len(pictures[n%len(pictures)])))...)
	}
	binary.BigEndian.PutUint32(stss[4:], uint32(len(stss)/4-2))
	for name, content := range map[string][]byte{"stss": stss, "ctts": ctts, "stsz": stsz,
		"stts": numbers(0, 1, uint32(count), uint32(each)), "stsc": numbers(0, 1, 1, 1, 1)} {
		tables.find(name).content = content
	}
	plays := uint32(count * each * movie.find("mvhd").number(12) / scale)
	movie.find("mvhd").put(16, plays)
	video.find("tkhd").put(20, plays)
	video.find("edts", "elst").put(8, plays)
	video.find("mdia", "mdhd").put(16, uint32(count*each))
	movie.parts = []*box{movie.find("mvhd"), video}

	stco := tables.find("stco")
	stco.content = make([]byte, 8+4*count) // its size is known, and so is where the pictures begin
	mark := &box{name: "free", content: fmt.Appendf(nil, "%d", seed)}
	data := &box{name: "mdat"}
	at := len(whole.find("ftyp").bytes()) + len(movie.bytes()) + len(mark.bytes()) + 8
	var offsets []uint32
	for _, p := range pictures {
		offsets, data.content = append(offsets, uint32(at+len(data.content))), append(data.content, p...)
	}
	stco.content = numbers(0, uint32(count))
	for n := range count {
		stco.content = append(stco.content, numbers(offsets[n%len(offsets)])...)
	}
	return slices.Concat(whole.find("ftyp").bytes(), movie.bytes(), mark.bytes(), data.bytes()), nil
}

// pictures returns the pictures of a track as the file has them, and by how much each is shown later than it is read.
func (b *box) pictures(file []byte) (all [][]byte, orders []int, err error) {
	chunks, sizes := b.find("stsc").table(3), b.find("stsz")
	for i, offset := range b.find("stco").table(1) {
		in := 0
		for _, c := range chunks {
			if c[0] <= i+1 {
				in = c[1]
			}
		}
		for at := offset[0]; in > 0; in-- {
			size := sizes.number(12 + 4*len(all))
			all, at = append(all, file[at:at+size]), at+size
		}
	}
	for _, row := range b.find("ctts").table(2) {
		orders = append(orders, slices.Repeat([]int{row[1]}, row[0])...)
	}
	if len(all) == 0 || len(orders) != len(all) {
		return nil, nil, fmt.Errorf("sample: %d pictures in %d orders", len(all), len(orders))
	}
	return all, orders, nil
}
