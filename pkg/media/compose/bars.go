package compose

import (
	"bytes"
	"encoding/binary"
	"image"
	"io"
	"math"
	"math/cmplx"

	"github.com/content-automation/api/pkg/media/compose/canvas"
)

// bands is the number of bars, each of which has a gap of its own width after it.
const bands = 38

// window is the number of samples from which the bars of a frame are made.
const window = 2048

// The lowest and the highest tone of the bars, in Hz.
const lowest, highest = 60, 9000

// samplesOf returns the samples of a WAV file of two channels of 32-bit floats, as one channel.
func samplesOf(wav []byte) []float64 {
	at := bytes.Index(wav, []byte("data"))
	if at < 0 || len(wav) < at+8 {
		return nil
	}
	data := wav[at+8:]
	all := make([]float64, len(data)/8)
	sample := func(at int) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(data[at:]))) }
	for i := range all {
		all[i] = (sample(8*i) + sample(8*i+4)) / 2
	}
	return all
}

// spectrum returns the levels of the bands for each of count frames, from 0 to 1. A bar rises at once and falls slowly.
// The loudest moment of a band is its full height, so that each of them moves.
func spectrum(samples []float64, fps, count int) [][bands]float64 {
	all := make([][bands]float64, count)
	var most [bands]float64
	for n := range all {
		levels := bandsAt(samples, n*sampleRate/fps)
		for i, v := range levels {
			if n > 0 {
				v = max(v, all[n-1][i]*fall(fps))
			}
			all[n][i], most[i] = v, max(most[i], v)
		}
	}
	for n := range all {
		for i := range bands {
			all[n][i] = math.Pow(all[n][i]/max(most[i], 1e-6), 0.8)
		}
	}
	return all
}

// fall is the part of its height that a bar keeps from frame to frame.
func fall(fps int) float64 { return math.Pow(0.03, 1/float64(fps)) }

// bandsAt returns the amplitudes of the bands around a sample.
func bandsAt(samples []float64, at int) (levels [bands]float64) {
	values := make([]complex128, window)
	for i := range values {
		if n := at - window/2 + i; n >= 0 && n < len(samples) {
			values[i] = complex(samples[n]*(0.5-0.5*math.Cos(2*math.Pi*float64(i)/window)), 0)
		}
	}
	transform(values)
	for i := range levels {
		edge := func(n int) float64 {
			return lowest * math.Pow(float64(highest)/lowest, float64(n)/bands) * window / sampleRate
		}
		from, to := int(edge(i)), int(math.Ceil(edge(i+1)))
		for n := from; n < max(to, from+1); n++ {
			levels[i] = max(levels[i], cmplx.Abs(values[n]))
		}
	}
	return levels
}

// transform is the fast Fourier transform of a number of values that is a power of two, in place.
func transform(v []complex128) {
	n := len(v)
	for i, j := 1, 0; i < n; i++ {
		bit := n >> 1
		for ; j&bit != 0; bit >>= 1 {
			j ^= bit
		}
		if j ^= bit; i < j {
			v[i], v[j] = v[j], v[i]
		}
	}
	for size := 2; size <= n; size *= 2 {
		step := cmplx.Rect(1, -2*math.Pi/float64(size))
		for begin := 0; begin < n; begin += size {
			turn := complex(1, 0)
			for i := begin; i < begin+size/2; i++ {
				a, b := v[i], v[i+size/2]*turn
				v[i], v[i+size/2] = a+b, a-b
				turn *= step
			}
		}
	}
}

// bar returns the place of the n-th bar in the picture of the bars, with a level from 0 to 1.
func bar(n int, level float64) image.Rectangle {
	half := max(int(level*barsHigh/2), 2)
	return image.Rect(2*n, barsHigh/2-half, 2*n+1, barsHigh/2+half)
}

// drawBars writes a frame for each of some levels: bars around a middle line, on nothing.
func drawBars(w io.Writer, levels [][bands]float64, c canvas.Color) error {
	frame := bytes.Repeat([]byte{c.R, c.G, c.B, 0}, barsWide*barsHigh)
	for _, of := range levels {
		for n, level := range of {
			at := bar(n, level)
			for y := range barsHigh {
				opacity := byte(0)
				if y >= at.Min.Y && y < at.Max.Y {
					opacity = 255
				}
				frame[(y*barsWide+at.Min.X)*4+3] = opacity
			}
		}
		if _, err := w.Write(frame); err != nil {
			return err
		}
	}
	return nil
}
