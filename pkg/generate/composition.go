package generate

import (
	"time"

	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/theme"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// Composition is a Video, Carousel, Picture or MusicClip, or Whole files.
type Composition interface {
	// Files calls f for each stored file of the composition.
	Files(f func(*media.File))
}

// Brand is the appearance of a brand.
type Brand struct {
	Name string
	// Logo is a picture, or nil.
	Logo *media.File
	// Color is the brand's main color, such as #0a7cff, or empty. More are its other colors.
	Color string
	More  []string `json:",omitempty"`
	// Right puts the mark into the right upper corner instead of the left one.
	Right bool `json:",omitempty"`
	// Font is a family of script.Fonts, or empty for that of the theme.
	Font string `json:",omitempty"`
	// Theme is one of theme.Names, or empty for the first. Design is a design of the customer, and comes first.
	Theme  string       `json:",omitempty"`
	Design *theme.Theme `json:",omitempty"`
	// Call is the call to action with which videos end, and Address where the brand is found. They may be empty.
	Call    string `json:",omitempty"`
	Address string `json:",omitempty"`
}

// Offer is what the media of a product say of it. Any member may be zero.
type Offer struct {
	// Price is the price that applies, and Was the price before the promotion.
	Price, Was *money.Price
	// Promotion is the name of the promotion.
	Promotion string
	// Percent is the whole percentage that the promotion saves, and Until its last day. They may be zero.
	Percent int64     `json:",omitempty"`
	Until   time.Time `json:",omitzero"`
	// Shop is the shop's name, Action its call to action, and Address where it is found.
	Shop, Action string
	Address      string `json:",omitempty"`
}

// Format is the shape of a video.
type Format string

// The formats.
const (
	Portrait  Format = "portrait"  // 1080 × 1920
	Landscape Format = "landscape" // 1920 × 1080
)

// Video is a video of scenes over which a voice speaks.
type Video struct {
	Format Format
	Scenes []Scene
	// Narration is one voice that speaks the texts of all scenes, and determines the cut. If it is nil, each scene has
	// its own length.
	Narration *media.File
	// Length is the requested length of the scenes of a video with a narration, whose tempo is changed a little for it.
	Length time.Duration
	// Marks are the times at which the voice reaches places of the texts, which are joined by one space each. Without
	// marks, the lengths of the texts determine the times.
	Marks []timeline.Mark
	// Language of the texts (BCP 47).
	Language string
	// Captions burns the captions in. They are also a file whenever there is a narration.
	Captions bool
	// CaptionStyle is words, lines or outline. If it is empty, it is words.
	CaptionStyle string
	// Headline is written on the poster. It may be empty.
	Headline string `json:",omitempty"`
	// Cuts is the number of times that the picture changes in 10 s: longer scenes are divided into shots.
	Cuts int `json:",omitempty"`
	// Fade joins the scenes by cross-fades instead of cuts.
	Fade bool
	// Music plays under the voice. It may be nil.
	Music *media.File
	Brand *Brand
	Offer *Offer // of the product that it presents, or nil
	// Intro and Outro are clips or pictures that are shown after the first scene and at the end. They may be nil.
	Intro, Outro *media.File
	// Notice is what a rule of law requires to be seen, such as a label of advertising. It may be empty.
	Notice string
	// Frames makes pictures in place of the video: its cover, its scenes that show a product, and its end card.
	Frames bool `json:",omitempty"`
}

// Scene is a part of a video: a clip or a picture.
type Scene struct {
	Text          string // the text that the voice speaks
	Clip, Picture *media.File
	OnScreen      string        // a short text that is drawn during the scene; it may be empty
	Length        time.Duration // in videos without a narration
	// Whole shows the picture without cropping it.
	Whole bool
}

// Use is the purpose of a picture.
type Use string

// The uses.
const (
	Post  Use = "post"  // 1080 × 1350
	Story Use = "story" // 1080 × 1920
)

// Picture is a picture that is published alone.
type Picture struct {
	Use  Use
	File *media.File
	// Text is written over the picture. It may be empty.
	Text     string
	Language string // of the text (BCP 47)
	Brand    *Brand
	Whole    bool   // without cropping it
	Offer    *Offer // of the product that it presents, or nil
	Notice   string // as of a video
	// Ratio is the ratio of a post: 1:1, 4:5 or 2:3. If it is empty, it is 4:5.
	Ratio string `json:",omitempty"`
}

// Carousel is pictures that are published together. The first and the last one carry the brand.
type Carousel struct {
	Slides   []Slide
	Language string // of the texts (BCP 47)
	Brand    *Brand
	Offer    *Offer // of the product that it presents, or nil
	Notice   string // as of a video
	// Ratio is the ratio of the slides, as of a post.
	Ratio string `json:",omitempty"`
}

// Slide is a picture of a carousel.
type Slide struct {
	File    *media.File
	Heading string // may be empty
	Body    string // below the heading; it needs one, and may be empty
	Whole   bool   // without cropping the picture
}

// MusicClip is a video of a track: its cover, and a waveform that moves with it.
type MusicClip struct {
	Track, Cover *media.File
	// Length is the longest time that it plays, from 15 to 60 seconds.
	Length time.Duration
	// Title is written under the cover, and Artist below it. They may be empty.
	Title    string
	Artist   string `json:",omitempty"`
	Language string // of the title (BCP 47)
	Brand    *Brand
	Notice   string // as of a video
	// Frames makes a picture in place of the clip. It needs no track.
	Frames bool `json:",omitempty"`
}

// UnchangedFiles is files of models that stay as they are. They are signed, and named as what they are.
type UnchangedFiles []media.File

// Files implements Composition: each of them is one.
func (w UnchangedFiles) Files(f func(*media.File)) {
	for i := range w {
		f(&w[i])
	}
}

// The pictures that samples show, in place of stored files. The composer has them.
var (
	SamplePhoto   = media.File{Key: "samples/photo.jpg", Type: media.Image, MIMEType: "image/jpeg"}
	SampleProduct = media.File{Key: "samples/product.jpg", Type: media.Image, MIMEType: "image/jpeg"}
)

// Files implements Composition.
func (v Video) Files(f func(*media.File)) {
	for _, s := range v.Scenes {
		each(f, s.Clip, s.Picture)
	}
	each(f, v.Narration, v.Music, v.Intro, v.Outro)
	v.Brand.files(f)
}

// Files implements Composition.
func (p Picture) Files(f func(*media.File)) {
	each(f, p.File)
	p.Brand.files(f)
}

// Files implements Composition.
func (c Carousel) Files(f func(*media.File)) {
	for _, s := range c.Slides {
		each(f, s.File)
	}
	c.Brand.files(f)
}

// Files implements Composition.
func (m MusicClip) Files(f func(*media.File)) {
	each(f, m.Track, m.Cover)
	m.Brand.files(f)
}

func (b *Brand) files(f func(*media.File)) {
	if b != nil {
		each(f, b.Logo)
	}
}

func each(f func(*media.File), files ...*media.File) {
	for _, file := range files {
		if file != nil {
			f(file)
		}
	}
}

// Branded reports whether finished media show the logo or the name of a brand, its intro or outro, or an offer.
func Branded(c Composition) bool {
	switch c := c.(type) {
	case Video:
		return c.Brand.hasLogo() || c.Offer != nil || c.Intro != nil || c.Outro != nil
	case Picture:
		return c.Brand.Shows() || c.Offer != nil
	case Carousel:
		return c.Brand.Shows() || c.Offer != nil
	case MusicClip:
		return c.Brand.hasLogo()
	}
	return false
}

func (b *Brand) hasLogo() bool { return b != nil && b.Logo != nil }

// Shows reports whether a brand has a logo or a name to show.
func (b *Brand) Shows() bool { return b.hasLogo() || b != nil && b.Name != "" }

// The places of a logo.
const (
	TopLeft  = "top_left"
	TopRight = "top_right"
	None     = "none"
)

// At returns the brand with a logo at a place.
func (b *Brand) At(logo *media.File, place string) *Brand {
	var at Brand
	if b != nil {
		at = *b
	}
	at.Logo, at.Right = logo, place == TopRight
	if place == None {
		at.Logo = nil
	}
	if !at.Shows() && at.Color == "" && at.Font == "" && at.Theme == "" && at.Design == nil {
		return nil
	}
	return &at
}

// Look is the part of the appearance that the accounts determine to which media can be published.
type Look struct {
	// Plain reports whether the media show no brand.
	Plain bool `json:"plain,omitempty"`
	// Place is the place of the logo. If it is empty, the composition has it.
	Place string `json:"logo_place,omitempty"`
}

// Plain returns the brand without its logo and name. Its colors, its font and its theme stay.
func (b *Brand) Plain() *Brand {
	if b == nil {
		return nil
	}
	return (&Brand{Color: b.Color, More: b.More, Font: b.Font, Theme: b.Theme, Design: b.Design}).At(nil, None)
}
