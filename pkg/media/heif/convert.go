package heif

import "image"

// weights are those of red and blue in luma (ITU-T H.273, table 4). JPEG has those of BT.601.
var weights = map[int][2]float64{1: {.2126, .0722}, 4: {.30, .11}, 5: {.299, .114}, 6: {.299, .114}, 7: {.212, .087},
	9: {.2627, .0593}}

// image returns the samples as a picture whose luma and color differences are those of JPEG.
func (p *planes) image(c Colors) (image.Image, error) {
	r := image.Rectangle{Max: p.size}
	switch {
	case p.across == gray:
		if !c.Full {
			widen(p.of[0])
		}
		return &image.Gray{Pix: p.of[0], Stride: p.size.X, Rect: r}, nil
	case p.rgb || c.Matrix == 0:
		if p.across != 0 {
			return nil, broken("three colors, and two of them coarser")
		}
		if !c.Full {
			for _, plane := range p.of {
				widen(plane)
			}
		}
		img := image.NewNRGBA(r)
		for i, g := range p.of[0] {
			copy(img.Pix[4*i:], []byte{p.of[2][i], g, p.of[1][i], 255})
		}
		return img, nil
	}
	w, ok := weights[c.Matrix]
	switch {
	case c.Matrix == 2 || c.Matrix == 3: // unknown: as in JPEG
		w = weights[6]
	case !ok:
		return nil, refuse("The picture has colors of a form that is not supported (matrix %d of H.273).", c.Matrix)
	}
	if w != weights[6] || !c.Full {
		p.convert(w, c.Full)
	}
	ratio := map[int]image.YCbCrSubsampleRatio{0: image.YCbCrSubsampleRatio444, 1: image.YCbCrSubsampleRatio422,
		2: image.YCbCrSubsampleRatio420}[p.across+p.down]
	return &image.YCbCr{Y: p.of[0], Cb: p.of[1], Cr: p.of[2], YStride: p.size.X,
		CStride: less(p.size, p.across, p.down).X, SubsampleRatio: ratio, Rect: r}, nil
}

// widen converts the range of video to the full one.
func widen(plane []byte) {
	var to [256]byte
	for i := range to {
		to[i] = level((float64(i) - 16) * 255 / 219)
	}
	for i, v := range plane {
		plane[i] = to[v]
	}
}

func level(v float64) byte { return byte(max(0, min(v+0.5, 255))) }

// convert converts luma and color differences to those of JPEG. Luma changes by what the differences say, so that a
// pixel takes one addition.
func (p *planes) convert(w [2]float64, full bool) {
	const kr, kb = .299, .114
	const kg = 1 - kr - kb
	red, blue := 2*(1-w[0]), 2*(1-w[1])
	green := 1 - w[0] - w[1]
	ofBlue := kb*blue - kg*blue*w[1]/green // what luma gains by the differences
	ofRed := kr*red - kg*red*w[0]/green
	scale, lowest, by := 1., 0., 1.
	if !full {
		scale, lowest, by = 255./224, 16, 255./219
	}
	var luma [256]int32 // in parts of 1/1024
	for i := range luma {
		luma[i] = int32((float64(i)-lowest)*by*1024 + 512)
	}
	size := less(p.size, p.across, p.down)
	for y := range size.Y {
		for x := range size.X {
			at := y*size.X + x
			cb, cr := (float64(p.of[1][at])-128)*scale, (float64(p.of[2][at])-128)*scale
			gain := ofBlue*cb + ofRed*cr
			p.of[1][at] = level((blue*cb-gain)/(2*(1-kb)) + 128)
			p.of[2][at] = level((red*cr-gain)/(2*(1-kr)) + 128)
			add := int32(gain * 1024)
			for row := y << p.down; row < min((y+1)<<p.down, p.size.Y); row++ {
				line := p.of[0][row*p.size.X:][:p.size.X]
				for i := x << p.across; i < min((x+1)<<p.across, p.size.X); i++ {
					line[i] = byte(max(0, min((luma[line[i]]+add)>>10, 255)))
				}
			}
		}
	}
}

// withOpacity returns a picture with opacity. Its colors are not multiplied by it.
func withOpacity(of image.Image, clear *planes, narrow, premade bool) image.Image {
	to := image.NewNRGBA(of.Bounds())
	if narrow {
		widen(clear.of[0])
	}
	for y := range to.Rect.Dy() {
		for x := range to.Rect.Dx() {
			var r, g, b uint32
			switch of := of.(type) {
			case *image.YCbCr:
				c := of.YCbCrAt(x, y)
				r, g, b, _ = c.RGBA()
			default:
				r, g, b, _ = of.At(x, y).RGBA()
			}
			at := y*to.Stride + 4*x
			a := uint32(clear.of[0][y*to.Rect.Dx()+x])
			p := to.Pix[at:][:4:4]
			if p[3] = byte(a); premade && a > 0 {
				r, g, b = min(r*255/a, 65535), min(g*255/a, 65535), min(b*255/a, 65535)
			}
			p[0], p[1], p[2] = byte(r>>8), byte(g>>8), byte(b>>8)
		}
	}
	return to
}
