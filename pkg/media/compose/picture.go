package compose

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/picture"
)

// Use is the purpose of a picture.
type Use string

// The uses.
const (
	Post  Use = "post"  // 1080 wide, in one of the ratios
	Story Use = "story" // 1080 × 1920
)

// Picture describes a picture that is published alone.
type Picture struct {
	Use  Use
	Path string
	// Text is written over the picture. It may be empty.
	Text     string
	Language string // of the text (BCP 47)
	Brand    *Brand
	// Whole shows the picture without cropping it, on a ground.
	Whole bool
	// Offer is written over the picture. It may be nil.
	Offer *Offer
	// Notice is drawn at the top. It may be empty.
	Notice string
	// Ratio is the ratio of a post. The empty one is Four5.
	Ratio Ratio
}

// Ratio is the proportion of the width to the height of posts and slides.
type Ratio string

// The ratios, of pictures that are 1080 pixels wide.
const (
	Square Ratio = "1:1"
	Four5  Ratio = "4:5"
	Two3   Ratio = "2:3"
)

// Ratios are all of the ratios, from the lowest to the tallest.
var Ratios = []Ratio{Square, Four5, Two3}

// tall returns the height of a picture.
func (r Ratio) tall() int {
	switch r {
	case Square:
		return wide
	case Two3:
		return wide * 3 / 2
	}
	return slideTall
}

func (r Ratio) check() error {
	if r != "" && !slices.Contains(Ratios, r) {
		return invalid("/ratio", "The ratio must be 1:1, 4:5 or 2:3.")
	}
	return nil
}

// Carousel describes pictures that are published together. Each has its number and the mark of the brand. The layouts
// of the slides between the first one and the last one alternate, and the last one closes the row in the brand's color.
type Carousel struct {
	Slides   []Slide
	Language string // of the texts (BCP 47)
	Brand    *Brand
	// Offer is written over the first slide that is shown whole, and its call to action over the last slide. It may be
	// nil.
	Offer *Offer
	// Notice is drawn at the top of each slide. It may be empty.
	Notice string
	// Ratio is the ratio of the slides. The empty one is Four5.
	Ratio Ratio
}

// Slide is a picture of a carousel.
type Slide struct {
	Path    string
	Heading string
	// Body is written below the heading, in smaller letters. It needs a heading, and may be empty.
	Body string
	// Whole shows the picture without cropping it, on a ground.
	Whole bool
}

const maxSlides = 35 // the limit of TikTok

const (
	wide       = 1080
	slideTall  = 1350
	storyTall  = 1920
	slideInset = 64
	bandTall   = 148
)

func (p Picture) check() error {
	if p.Use != Post && p.Use != Story {
		return invalid("/use", "The use must be post or story.")
	}
	return p.Ratio.check()
}

func (p Picture) compose(ctx context.Context, r *run) error {
	design := p.Brand.look()
	c := card{about: "/path", text: p.Text, lang: p.Language, brand: p.Brand, layout: design.Post,
		size: image.Pt(wide, p.Ratio.tall())}
	c.area = image.Rect(slideInset, slideInset, wide-slideInset, c.size.Y-slideInset)
	c.whole, c.offer, c.notice = p.Whole, p.Offer, p.Notice
	if p.Use == Post && p.Offer != nil {
		c.brand, c.band = c.brand.orEmpty(), true
	}
	if p.Use == Story {
		c.size.Y, c.area, c.layout = storyTall, SafeStory, design.Story
		if c.whole && c.offer != nil && c.offer.Shop != "" {
			// The button says the shop: the product has the room of the mark.
			plain := *c.brand.orEmpty()
			plain.Logo, plain.Name = "", ""
			c.brand = &plain
		}
	}
	img, s, err := r.card(ctx, p.Path, c)
	if err != nil {
		return err
	}
	return r.deliverOne(ctx, "final", media.Final, img, s)
}

func (c Carousel) check() error {
	if len(c.Slides) < 1 || len(c.Slides) > maxSlides {
		return invalid("/slides", "A carousel has from 1 to %d slides.", maxSlides)
	}
	for i, s := range c.Slides {
		if s.Body != "" && s.Heading == "" {
			return invalid(fmt.Sprintf("/slides/%d/body", i), "A slide with a body needs a heading.")
		}
	}
	return c.Ratio.check()
}

func (c Carousel) compose(ctx context.Context, r *run) error {
	tall, design := c.Ratio.tall(), c.Brand.look()
	priced := slices.IndexFunc(c.Slides, func(s Slide) bool { return s.Whole })
	var slides album
	for i, s := range c.Slides {
		one := card{
			about: fmt.Sprintf("/slides/%d", i), text: s.Heading, body: s.Body, lang: c.Language,
			size: image.Pt(wide, tall), notice: c.Notice, brand: c.Brand, layout: design.Post,
			area: image.Rect(slideInset, slideInset, wide-slideInset, tall-slideInset),
		}
		last := i == len(c.Slides)-1
		if len(c.Slides) > 1 {
			one.number = fmt.Sprintf("%d/%d", i+1, len(c.Slides))
		}
		switch {
		case i == 0:
			one.band = c.Brand.marked()
		case last:
			one.band, one.layout = c.Brand.marked(), design.Last
		default:
			one.layout = design.Slides[(i-1)%len(design.Slides)]
		}
		if one.whole = s.Whole; c.Offer != nil && (i == priced || last) {
			offer := *c.Offer
			if i != priced {
				offer = Offer{Action: offer.Action}
			}
			if !last {
				offer.Action = ""
			}
			one.offer, one.brand = &offer, c.Brand.orEmpty()
			one.band = one.band || offer.Action != ""
		}
		img, words, err := r.card(ctx, s.Path, one)
		if err == nil {
			err = slides.add(r, fmt.Sprintf("slide%02d", i+1), img, words)
		}
		if err != nil {
			return err
		}
		r.report(100 * (i + 1) / (len(c.Slides) + 1))
	}
	return slides.deliver(ctx, r, media.Final)
}

// drawPicture decodes a part, and returns what a function draws of it.
func (r *run) drawPicture(ctx context.Context, path, about string,
	draw func(*picture.Decoded) (*image.NRGBA, error)) (*image.NRGBA, error) {
	content, err := readPicture(path, about)
	if err != nil {
		return nil, err
	}
	var img *image.NRGBA
	p, err := picture.Open(content)
	if err == nil {
		var d *picture.Decoded
		if d, err = p.Decode(ctx); err == nil {
			img, err = draw(d)
		}
	}
	if ctx.Err() != nil {
		return nil, &Error{Code: CodeCanceled, Stage: StagePicture, Message: "The composition was canceled.",
			Err: context.Cause(ctx)}
	}
	return img, ofPicture(about, err)
}

// ofPicture returns the error of a picture as one of a composition.
func ofPicture(about string, err error) error {
	var large *picture.TooLargeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &large):
		e := tooLarge(about)
		e.Message = large.Message
		return e
	case errors.Is(err, picture.ErrBroken):
		return unreadable(StagePicture, about, err)
	}
	return internal(StagePicture, err)
}

// readPicture returns the content of a part that is a picture.
func readPicture(path, about string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = &fs.PathError{Op: "open", Path: path, Err: fs.ErrInvalid}
	case err == nil && info.Size() > media.Limit(media.Image):
		return nil, tooLarge(about)
	}
	var content []byte
	if err == nil {
		content, err = os.ReadFile(path)
	}
	if err != nil {
		e := internal(StageInputs, err)
		e.About = about
		return nil, e
	}
	return content, nil
}

// maxLogo is the largest side of a logo after scaling.
const maxLogo = 600

// logo returns a brand's logo, or nil if there is none. It is read once.
func (r *run) logo(ctx context.Context, path string) (image.Image, error) {
	if path == "" || r.mark != nil {
		return r.mark, nil
	}
	const about = "/brand/logo"
	img, err := r.drawPicture(ctx, path, about, func(d *picture.Decoded) (*image.NRGBA, error) {
		return d.Within(ctx, image.Pt(min(maxLogo, d.Width), min(maxLogo, d.Height)))
	})
	if err != nil {
		return nil, err
	}
	// Letters are as large as they can be: a margin would make them smaller.
	r.mark = canvas.Trim(img)
	return r.mark, nil
}

// album has pictures of one size, which one run of ffmpeg encodes.
type album struct {
	size    image.Point
	names   []string
	scripts []*text.Script
}

// file returns the name of the file that has the pixels, without letters.
func (a *album) file() string { return a.names[0] + ".raw" }

// add adds a picture with a script that is drawn over it. Its pixels wait in a file: those of all would take much room.
func (a *album) add(r *run, name string, img *image.RGBA, s *text.Script) error {
	a.size, a.names, a.scripts = img.Rect.Size(), append(a.names, name), append(a.scripts, s)
	f, err := os.OpenFile(r.path(a.file()), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return internal(StagePicture, err)
	}
	_, err = f.Write(img.Pix)
	if err := errors.Join(err, f.Close()); err != nil {
		return internal(StagePicture, err)
	}
	return nil
}

// deliver encodes the pictures, as frames of a video of one each second, and delivers them.
func (a *album) deliver(ctx context.Context, r *run, role media.Role) error {
	defer os.Remove(r.path(a.file()))
	draw, err := r.subtitles(StagePicture, a.names[0], text.Pictures(a.scripts, time.Second))
	if err != nil {
		return err
	}
	in := r.drawn(a.file(), a.size)
	in.Options = append(in.Options, "-framerate", "1")
	_, err = r.ffmpeg(ctx, StagePicture, "", ffmpeg.Job{
		Inputs: []ffmpeg.Input{in},
		Filter: "[0:v]" + draw + ",scale=out_range=full:out_color_matrix=bt601,format=yuvj420p[out]",
		Output: []string{"-map", "[out]", "-q:v", "2", "-start_number", "0", "-f", "image2", "album%d.jpg"},
	})
	if err != nil {
		return err
	}
	for i, name := range a.names {
		if err := os.Rename(r.path(fmt.Sprintf("album%d.jpg", i)), r.path(name+".jpg")); err != nil {
			return internal(StagePicture, err)
		}
		if err := deliverPicture(r, name, role, a.size); err != nil {
			return err
		}
	}
	return nil
}

// deliverOne encodes a picture with a script that is drawn over it, and delivers it.
func (r *run) deliverOne(ctx context.Context, name string, role media.Role, img *image.RGBA, s *text.Script) error {
	var a album
	if err := a.add(r, name, img, s); err != nil {
		return err
	}
	return a.deliver(ctx, r, role)
}

// Zoom is the visible part of a picture's width and height at the nearer end of a motion.
const Zoom = 0.88

// View is the visible part of a picture: its corner and size, as fractions of the whole.
type View struct{ X, Y, Size float64 }

// Move goes from one view to another.
type Move struct{ From, To View }

// Moves are used in turn: nearer, to one side, farther, to the other.
var Moves = func() []Move {
	const edge = 1 - Zoom
	whole, near := View{0, 0, 1}, View{edge / 2, edge / 2, Zoom}
	left, right := View{0, edge / 2, Zoom}, View{edge, edge / 2, Zoom}
	return []Move{{whole, near}, {left, right}, {near, whole}, {right, left}}
}()

// Still is a picture in yuv420p: a plane of brightness, and two of color with half its width and height.
type Still struct {
	width, height int
	planes        [3][]byte
}

// NewStill returns the picture in raw bytes. Width and height must be even.
func NewStill(raw []byte, width, height int) (*Still, error) {
	luma, chroma := width*height, width*height/4
	if width < 4 || width > maxWidth || height < 4 || width%2 != 0 || height%2 != 0 || len(raw) != luma+2*chroma {
		return nil, fmt.Errorf("motion: %d bytes are no %d x %d pixels", len(raw), width, height)
	}
	return &Still{width, height, [3][]byte{raw[:luma], raw[luma : luma+chroma], raw[luma+chroma:]}}, nil
}

// StillOf returns a picture that is not transparent, in the colors of video (BT.709). Width and height must be even.
func StillOf(img *image.RGBA) (*Still, error) {
	width, height := img.Rect.Dx(), img.Rect.Dy()
	raw := make([]byte, width*height*3/2)
	luma, blue, red := raw[:width*height], raw[width*height:][:width*height/4], raw[width*height*5/4:]
	for y := 0; y < height&^1; y += 2 {
		for x := 0; x < width&^1; x += 2 {
			var sum [3]int32
			for _, at := range [4]int{0, 1, width, width + 1} {
				p := img.Pix[4*(y*width+x+at):][:3:3]
				r, g, b := int32(p[0]), int32(p[1]), int32(p[2])
				luma[y*width+x+at] = uint8(16 + (11966*r+40254*g+4064*b+1<<15)>>16)
				sum[0], sum[1], sum[2] = sum[0]+r, sum[1]+g, sum[2]+b
			}
			at := y/2*(width/2) + x/2
			blue[at] = uint8(128 + (-6596*sum[0]-22189*sum[1]+28784*sum[2]+1<<17)>>18)
			red[at] = uint8(128 + (28784*sum[0]-26145*sum[1]-2639*sum[2]+1<<17)>>18)
		}
	}
	return NewStill(raw, width, height)
}

// Write writes count frames of a size, in yuv420p, beginning with the frame begin of a move of total frames.
func (s *Still) Write(w io.Writer, width, height int, m Move, begin, count, total int) error {
	frame := make([]byte, width*height*3/2)
	between := func(a, b float64, n int) float64 { return a + (b-a)*float64(n)/float64(max(total-1, 1)) }
	for n := begin; n < begin+count; n++ {
		v := View{between(m.From.X, m.To.X, n), between(m.From.Y, m.To.Y, n), between(m.From.Size, m.To.Size, n)}
		s.frame(frame, width, height, v)
		if _, err := w.Write(frame); err != nil {
			return err
		}
	}
	return nil
}

func (s *Still) frame(out []byte, width, height int, v View) {
	luma := width * height
	plane(out[:luma], width, height, s.planes[0], s.width, s.height, v)
	plane(out[luma:luma+luma/4], width/2, height/2, s.planes[1], s.width/2, s.height/2, v)
	plane(out[luma+luma/4:], width/2, height/2, s.planes[2], s.width/2, s.height/2, v)
}

// motionSamples returns the source positions of the pixels of a row or column, in 256 parts of a pixel: a pixel is
// mixed from the one at the position and the next one.
func motionSamples(out, in int, from, size float64) []uint32 {
	all := make([]uint32, out)
	step := size * float64(in) / float64(out)
	for i := range all {
		x := from*float64(in) + (float64(i)+0.5)*step - 0.5
		all[i] = uint32(min(max(x, 0), float64(in-1)-1.0/512)*256 + 0.5)
	}
	return all
}

// maxWidth is the greatest width of a picture. A row of a constant length needs no bounds checks, which would take as
// long as the rest.
const maxWidth = 4096

func plane(out []byte, width, height int, in []byte, inWidth, inHeight int, v View) {
	columns, rows := motionSamples(width, inWidth, v.X, v.Size), motionSamples(height, inHeight, v.Y, v.Size)
	var row [maxWidth + 8]byte
	for y, r := range rows {
		at := int(r >> 8)
		top := in[at*inWidth:][:inWidth]
		low := top
		if at+1 < inHeight {
			low = in[(at+1)*inWidth:][:inWidth]
		}
		blend(row[:], top, low, uint64(r&255))
		line := out[y*width:][:len(columns)]
		for x, c := range columns {
			i, part := c>>8&(maxWidth-1), c&255
			left, right := uint32(row[i]), uint32(row[i+1])
			line[x] = byte((left<<8 + (right-left)*part + 128) >> 8)
		}
	}
}

// blend mixes two rows, eight pixels at a time: in a word of 64 bits, four of them have 16 bits each, which is the size
// of a product of two 8-bit numbers.
func blend(out, a, b []byte, part uint64) {
	if part == 0 {
		copy(out, a)
		return
	}
	const even, half = 0x00ff00ff00ff00ff, 0x0080008000800080
	i := 0
	for ; i+8 <= len(a); i += 8 {
		p, q := binary.LittleEndian.Uint64(a[i:]), binary.LittleEndian.Uint64(b[i:])
		low := ((p&even)*(256-part) + (q&even)*part + half) >> 8 & even
		high := ((p>>8&even)*(256-part) + (q>>8&even)*part + half) &^ even
		binary.LittleEndian.PutUint64(out[i:], low|high)
	}
	for ; i < len(a); i++ {
		out[i] = byte((uint64(a[i])*(256-part) + uint64(b[i])*part + 128) >> 8)
	}
}

// The filters below draw the pictures of a clip as its description says that they are seen: upright, with square pixels
// and in the colors of BT.709. ffmpeg guesses what a file leaves unsaid, and turns a picture before it is scaled.

// upright are the options of an input whose pictures these filters turn.
var upright = []string{"-noautorotate"}

// pictures returns the link of the pictures of the n-th input.
func (in input) pictures(n int) string { return fmt.Sprintf("[%d:v:%d]", n, in.movie.Picture.Track) }

// covering returns the filters that scale a clip so that it covers a size, and crop the rest.
func (in input) covering(width, height int) string {
	by := math.Max(float64(width)/float64(in.width), float64(height)/float64(in.height))
	w, h := max(even(float64(in.width)*by), width), max(even(float64(in.height)*by), height)
	return in.scaled(w, h) + fmt.Sprintf("crop=%d:%d,", width, height) + in.toned() + "setsar=1,format=yuv420p"
}

// inside returns the filters that scale a clip into a size.
func (in input) inside(width, height int) string {
	by := math.Min(float64(width)/float64(in.width), float64(height)/float64(in.height))
	w, h := even(float64(in.width)*by), even(float64(in.height)*by)
	return in.scaled(min(w, max(width&^1, 2)), min(h, max(height&^1, 2))) + in.toned() + "setsar=1,format=yuv420p"
}

// even returns the nearest even number of pixels.
func even(n float64) int { return max(2*int(math.Round(n/2)), 2) }

// scaled returns the filters that scale and turn a clip to a size in which it is seen.
func (in input) scaled(width, height int) string {
	p := in.movie.Picture
	if p.Turn%2 == 1 {
		width, height = height, width
	}
	c, to := p.Colors, "bt709"
	if c.Wide() {
		to = matrix(c)
	}
	scale := fmt.Sprintf("scale=%d:%d:flags=bicubic:in_color_matrix=%s:in_range=%s:out_color_matrix=%s:out_range=tv,",
		width, height, matrix(c), extent(c), to)
	if c.Wide() {
		scale += "format=yuv420p10le,"
	}
	if p.Mirrored {
		scale += "hflip,"
	}
	return scale + []string{"", "transpose=clock,", "hflip,vflip,", "transpose=cclock,"}[p.Turn&3]
}

// matrix returns ffmpeg's name of the matrix of colors.
func matrix(c media.Colors) string {
	switch c.Matrix {
	case 4:
		return "fcc"
	case 5, media.ColorsBT601:
		return "bt601"
	case 7:
		return "smpte240m"
	case media.ColorsBT2020, media.MatrixBT2020Const:
		return "bt2020"
	}
	return "bt709"
}

// extent returns ffmpeg's name of the range of samples.
func extent(c media.Colors) string {
	if c.Full {
		return "pc"
	}
	return "tv"
}

// white is the luminance of white in HDR, in cd/m² (ITU-R BT.2408), and peak that of its brightest lights.
const (
	white = 203
	peak  = 1000
)

// toned returns the filters that bring the colors of HDR, and others that screens of BT.709 do not have, to BT.709.
// Lights up to 0.6 of white keep their luminance, and those above it are compressed, so that nothing clips.
func (in input) toned() string {
	c := in.movie.Picture.Colors
	if !c.Wide() {
		return ""
	}
	from := fmt.Sprintf("zscale=tin=%s:pin=%s:min=%s:rin=limited", transfer(c), primaries(c), zMatrix(c))
	const to = "t=709:m=709:p=709:r=limited"
	if !c.HDR() {
		return from + ":" + to + ","
	}
	return fmt.Sprintf("%s:t=linear:npl=%d,format=gbrpf32le,zscale=p=709,tonemap=mobius:param=0.6:desat=0:peak=%.3f,"+
		"zscale=%s,", from, white, float64(peak)/white, to)
}

// transfer, primaries and zMatrix return the names that zscale has for the colors.
func transfer(c media.Colors) string {
	switch c.Transfer {
	case media.TransferPQ:
		return "smpte2084"
	case media.TransferHLG:
		return "arib-std-b67"
	case 13:
		return "iec61966-2-1"
	}
	return "709"
}

func primaries(c media.Colors) string {
	switch c.Primaries {
	case media.ColorsBT2020:
		return "2020"
	case media.PrimariesP3:
		return "smpte432"
	case media.PrimariesDCI:
		return "smpte431"
	}
	return "709"
}

func zMatrix(c media.Colors) string {
	switch matrix(c) {
	case "bt2020":
		return "2020_ncl"
	case "bt601":
		return "170m"
	}
	return "709"
}

// The conversions of frames that are in BT.709: to RGB, and to the colors of a JPEG, which readers take to be in
// BT.601. Between the two, ffmpeg would convert the range alone.
const (
	toRGB  = "scale=in_color_matrix=bt709:in_range=tv,format=rgb24"
	toJPEG = toRGB + ",scale=out_color_matrix=bt601:out_range=full,format=yuvj420p"
)

// timed brings the times of a clip to frames. A clip whose pictures begin later than its sound begins with its first
// frame.
func timed(fps int) string { return fmt.Sprintf("fps=fps=%d:start_time=0", fps) }

// whole returns the filters that show a clip without cropping it, over its blurred copy. The copy is not darkened, so
// that a plain ground goes on around the clip. n is the number of the input, which names the links.
func (in input) whole(n, width, height int) string {
	if off := in.width*height - in.height*width; max(off, -off) <= 2*max(width, height) {
		return in.covering(width, height)
	}
	const coarse = 16
	back := [2]int{max(width/coarse&^1, 2), max(height/coarse&^1, 2)}
	return fmt.Sprintf("%[2]s,split[back%[1]d][front%[1]d];"+
		"[back%[1]d]scale=%[3]d:%[4]d:force_original_aspect_ratio=increase:flags=bicubic,crop=%[3]d:%[4]d,"+
		"gblur=sigma=4,scale=%[5]d:%[6]d:flags=bicubic[ground%[1]d];"+
		"[ground%[1]d][front%[1]d]overlay=x=(W-w)/2:y=(H-h)/2:format=yuv420",
		n, in.inside(width, height), back[0], back[1], width, height)
}
