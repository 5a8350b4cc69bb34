// Package sample generates parts for the tests and measurements of compositions: pictures with as much detail as a
// photograph, a voice, a track and a logo. They depend only on their arguments.
package sample

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"time"
)

// Picture returns a JPEG of hills under a sky, with detail of every size.
func Picture(width, height int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	sky := palette(r.Float64(), 0.75)
	land := palette(r.Float64(), 0.35)
	n := newNoise(r)
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	unit := float64(min(width, height))
	for y := range height {
		for x := range width {
			u, v := float64(x)/unit, float64(y)/unit
			horizon := 0.5*float64(height)/unit + 0.25*n.at(u*1.5, 7, 4)
			light, base := n.at(u*2, v*4, 5), sky
			if v > horizon {
				light, base = 0.8*n.at(u*6, v*9, 7)+(v-horizon)*0.15, land
			}
			img.SetRGBA(x, y, shade(base, 0.72+0.7*light))
		}
	}
	// A sun adds a bright area.
	cx, cy, radius := unit*(0.25+0.5*r.Float64()), unit*0.28, unit*0.09
	for y := int(cy - radius); y < int(cy+radius); y++ {
		for x := int(cx - radius); x < int(cx+radius); x++ {
			if math.Hypot(float64(x)-cx, float64(y)-cy) < radius {
				img.SetRGBA(x, y, color.RGBA{255, 248, 224, 255})
			}
		}
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: 92}); err != nil {
		panic(err) // a buffer does not fail
	}
	return out.Bytes()
}

// Scene is the surroundings of a product.
type Scene string

// The scenes of products.
const (
	Studio Scene = "studio" // on white
	Cut    Scene = "cut"    // without surroundings
	Nature Scene = "nature"
)

// Product returns a PNG of a shoe that reaches nearly to the edges of the picture.
func Product(width, height int, s Scene) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	n := newNoise(rand.New(rand.NewPCG(7, 1)))
	body, sole, lace := [3]float64{196, 62, 48}, [3]float64{244, 240, 232}, color.NRGBA{30, 34, 52, 255}
	for y := range height {
		for x := range width {
			u, v := (float64(x)+0.5)/float64(width), (float64(y)+0.5)/float64(height)
			light := 0.8 + 0.4*n.at(u*9, v*9, 4)
			switch top := 0.72 - 0.5*math.Exp(-math.Pow((u-0.22)/0.2, 2)) - 0.16*math.Exp(-math.Pow((u-0.6)/0.3, 2)); {
			case u > 0.03 && u < 0.97 && v > 0.76 && v < 0.86 && math.Abs(u-0.5) < 0.47:
				img.Set(x, y, shade(sole, light))
			case u > 0.06 && u < 0.94 && v > top && v <= 0.76:
				img.Set(x, y, shade(body, light))
				if stripe := math.Mod(u*14+v*4, 1); u > 0.36 && u < 0.62 && v < top+0.16 && stripe < 0.35 {
					img.SetNRGBA(x, y, lace)
				}
			case s == Studio:
				img.SetNRGBA(x, y, color.NRGBA{250, 250, 250, 255})
			case s == Nature:
				img.Set(x, y, shade([3]float64{92, 128, 84}, 0.5+1.1*n.at(u*5, v*7, 6)))
			}
		}
	}
	return PNG(img)
}

// Plain returns a PNG of one color.
func Plain(width, height int, c color.RGBA) []byte {
	img := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{c})
	return PNG(img)
}

// Logo returns a PNG with transparency: a ring next to two bars.
func Logo(c color.RGBA) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, 400, 160))
	for y := range 160 {
		for x := range 400 {
			d := math.Hypot(float64(x)-80, float64(y)-80)
			if d < 76 && d > 44 || x > 190 && (y > 40 && y < 72 || y > 92 && y < 124 && x < 340) {
				img.Set(x, y, c)
			}
		}
	}
	return PNG(img)
}

// TwoTone returns a PNG of a logo whose ring and bars have different colors.
func TwoTone(ring, bars color.RGBA) []byte {
	img, err := png.Decode(bytes.NewReader(Logo(ring)))
	if err != nil {
		panic(err) // it was just encoded
	}
	logo := img.(*image.NRGBA)
	for y := range logo.Rect.Dy() {
		for x := 180; x < logo.Rect.Dx(); x++ {
			if logo.NRGBAAt(x, y).A > 0 {
				logo.Set(x, y, bars)
			}
		}
	}
	return PNG(logo)
}

// PNG encodes a picture.
func PNG(img image.Image) []byte {
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		panic(err) // a buffer does not fail
	}
	return out.Bytes()
}

// palette returns a color of a hue from 0 to 1.
func palette(hue, lightness float64) [3]float64 {
	part := func(shift float64) float64 {
		return 255 * lightness * (0.8 + 0.35*math.Cos(2*math.Pi*(hue+shift)))
	}
	return [3]float64{part(0), part(1.0 / 3), part(2.0 / 3)}
}

func shade(base [3]float64, light float64) color.RGBA {
	part := func(v float64) uint8 { return uint8(min(max(v*light, 0), 255)) }
	return color.RGBA{part(base[0]), part(base[1]), part(base[2]), 255}
}

// noise is a lattice of random values, repeated.
type noise [64][64]float64

func newNoise(r *rand.Rand) *noise {
	var n noise
	for y := range n {
		for x := range n[y] {
			n[y][x] = r.Float64()
		}
	}
	return &n
}

// at returns smooth noise from 0 to 1 with several octaves of detail.
func (n *noise) at(x, y float64, octaves int) float64 {
	sum, weight, total := 0.0, 1.0, 0.0
	for range octaves {
		fx, fy := math.Floor(x), math.Floor(y)
		u, v := x-fx, y-fy
		u, v = u*u*(3-2*u), v*v*(3-2*v)
		i, j := int(fx)&63, int(fy)&63
		top := n[j][i]*(1-u) + n[j][(i+1)&63]*u
		low := n[(j+1)&63][i]*(1-u) + n[(j+1)&63][(i+1)&63]*u
		sum += weight * (top*(1-v) + low*v)
		total += weight
		weight *= 0.55
		x, y = x*2.03, y*2.03
	}
	return sum / total
}

const rate = 24_000

// Voice returns a WAV of one channel that sounds like speech: syllables of harmonics, with pauses between words and
// sentences.
func Voice(length time.Duration) []byte {
	r := rand.New(rand.NewPCG(3, 5))
	samples := make([]float64, int(length.Seconds()*rate))
	for at, word := 0, 0; at < len(samples); word++ {
		pause := rate / 25
		if word%7 == 6 {
			pause = rate / 3
		}
		for range 1 + r.IntN(3) {
			long, pitch, vowel := rate/8+r.IntN(rate/12), 110+50*r.Float64(), 400+900*r.Float64()
			for i := range min(long, max(len(samples)-at, 0)) {
				t, sum := float64(i)/rate, 0.0
				for h := 1.0; h*pitch < 4000; h++ {
					f := h * pitch
					sum += math.Sin(2*math.Pi*f*t) / (1 + math.Abs(f-vowel)/200) / h
				}
				samples[at+i] = 0.35 * sum * math.Sin(math.Pi*float64(i)/float64(long))
			}
			at += long
		}
		at += pause
	}
	return WAV(samples)
}

// Track returns a WAV of one channel with chords and a beat.
func Track(length time.Duration) []byte {
	samples := make([]float64, int(length.Seconds()*rate))
	chords := [][]float64{{220, 277.2, 329.6}, {196, 246.9, 293.7}, {174.6, 220, 261.6}, {196, 246.9, 329.6}}
	for i := range samples {
		t := float64(i) / rate
		beat := math.Mod(t, 0.5)
		for _, f := range chords[int(t/2)%len(chords)] {
			samples[i] += 0.1 * math.Sin(2*math.Pi*f*t) * (0.55 + 0.45*math.Exp(-4*beat))
		}
		samples[i] += 0.35 * math.Sin(2*math.Pi*(55+60*math.Exp(-30*beat))*beat) * math.Exp(-9*beat)
	}
	return WAV(samples)
}

// Tone returns a WAV of one channel with a sine of a frequency; 0 is silence.
func Tone(length time.Duration, frequency float64) []byte {
	samples := make([]float64, int(length.Seconds()*rate))
	for i := range samples {
		samples[i] = 0.4 * math.Sin(2*math.Pi*frequency*float64(i)/rate)
	}
	return WAV(samples)
}

// WAV writes samples from -1 to 1.
func WAV(samples []float64) []byte {
	var out bytes.Buffer
	out.WriteString("RIFF")
	write := func(values ...any) {
		for _, v := range values {
			binary.Write(&out, binary.LittleEndian, v)
		}
	}
	size := uint32(len(samples) * 2)
	write(36 + size)
	out.WriteString("WAVEfmt ")
	write(uint32(16), uint16(1), uint16(1), uint32(rate), uint32(rate*2), uint16(2), uint16(16))
	out.WriteString("data")
	write(size)
	body := make([]byte, 0, size)
	for _, s := range samples {
		body = binary.LittleEndian.AppendUint16(body, uint16(int16(32000*min(max(s, -1), 1))))
	}
	out.Write(body)
	return out.Bytes()
}
