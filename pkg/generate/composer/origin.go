package composer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"log/slog"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"

	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/compose/script"
	"github.com/content-automation/api/pkg/media/picture"
	"github.com/content-automation/api/pkg/media/probe"
	"github.com/content-automation/api/pkg/media/provenance"
)

// origin is what the finished files of a composition say of their origin.
type origin struct {
	provenance.Statement
	test        bool
	prompt      string
	models      []provenance.Model
	ingredients []ingredient
	// manifest reports whether the file has one already, so that its bytes may not change before they are signed.
	manifest bool
}

// ingredient is a file of a composition.
type ingredient struct {
	provenance.Ingredient
	path string
}

// originOf reads what the files of a composition say of their origin. A file of the caller that says that it was
// generated counts as that.
func originOf(ctx context.Context, what generate.Composition, o generate.Origin, at paths) (all origin, err error) {
	all = origin{test: o.Test, prompt: o.Prompt, models: o.Models, Statement: provenance.Statement{Credit: o.Line}}
	for _, m := range o.Models {
		all.Statement = all.With(provenance.Statement{Systems: m.Name})
	}
	seen, generated, own := map[string]bool{}, false, false
	_, whole := what.(generate.UnchangedFiles)
	what.Files(func(f *media.File) {
		path := at.of(f)
		if seen[path] || err != nil {
			return
		}
		seen[path] = true
		model, made := o.GeneratedFiles[f.Key]
		in := ingredient{provenance.Ingredient{Title: title(f, model, made), MIMEType: f.MIMEType, Model: model,
			Relation: provenance.Component}, path}
		var said provenance.Findings
		if said, err = stated(ctx, path); err != nil {
			return
		}
		if made || o.Generated || said.Source == provenance.Generated || said.Source == provenance.Composite {
			generated = true
			all.Statement = all.With(provenance.Statement{Credit: said.Credit, Systems: said.Systems})
		}
		own = own || !made && !o.Generated && said.Source != provenance.Generated
		switch {
		case !whole:
			all.ingredients = append(all.ingredients, in)
		case said.Manifest: // of the model's provider: the file stays a version of what that says
			in.Relation = provenance.Parent
			all.ingredients, all.manifest = append(all.ingredients, in), true
		}
	})
	if generated {
		all.Source = provenance.Generated
		if own {
			all.Source = provenance.Composite
		}
	}
	return all, err
}

// title names an ingredient for the people who look at the manifest.
func title(f *media.File, model *provenance.Model, made bool) string {
	switch {
	case model != nil:
		return fmt.Sprintf("%s of %s", f.Type, model.Name)
	case made:
		return fmt.Sprintf("%s of an earlier item", f.Type)
	default:
		return fmt.Sprintf("%s of the customer", f.Type)
	}
}

// stated returns what a file says of its origin: nothing, if its format has no place for that.
func stated(ctx context.Context, path string) (provenance.Findings, error) {
	file, size, err := opened(path)
	if err != nil {
		return provenance.Findings{}, err
	}
	defer file.Close()
	found, err := provenance.Read(ctx, file, size)
	if errors.Is(err, provenance.ErrUnsupported) {
		err = nil
	}
	return found, err
}

func opened(path string) (*os.File, int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("stored: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("stored: %w", err), file.Close())
	}
	return file, info.Size(), nil
}

// keep saves a finished file that says its origin. A poster among all files of its composition is the picture of a
// video.
func (c *Composer) keep(ctx context.Context, f compose.File, all []compose.File, from origin,
	save generate.Save) error {
	file, size, err := opened(f.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	as := media.File{Role: f.Role}
	if f.Role == media.Subtitles {
		return save(as, file, nil)
	}
	as.Provenance = &media.Provenance{DigitalSourceType: from.Source.URI()}
	info, err := probe.Read(file, size)
	if err != nil {
		return err
	}
	var small []byte
	if info.Type == media.Image {
		as.Likeness, small, err = shown(ctx, f.Path)
	} else if info.Type == media.Video {
		small, err = c.thumbnailOf(ctx, f, all)
	}
	if err != nil {
		return err
	}
	var marked io.ReadSeeker = file
	if from.Source != "" && !from.manifest {
		copied, err := provenance.Mark(ctx, file, size, from.Statement)
		if err != nil {
			return fmt.Errorf("stored: %w", err)
		}
		marked = copied
	}
	signed, err := os.Create(f.Path + ".signed")
	if err != nil {
		return fmt.Errorf("stored: %w", err)
	}
	defer signed.Close()
	if as.Provenance.Signer, err = c.sign(ctx, from, cmp.Or(string(f.Role), string(info.Type)), info.MIMEType, marked,
		signed); err != nil {
		return err
	}
	as.Provenance.C2PA = as.Provenance.Signer != "" || from.manifest
	if as.Provenance.Signer != "" {
		marked = signed
	}
	if _, err := marked.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("stored: %w", err)
	}
	return save(as, marked, small)
}

// shown returns the hash of what a picture shows, and its thumbnail: nothing for one that cannot be read.
func shown(ctx context.Context, path string) (likeness string, thumbnail []byte, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", nil, fmt.Errorf("stored: %w", err)
	}
	var hash provenance.Likeness
	p, err := picture.Open(content)
	if err == nil {
		var d *picture.Decoded
		if d, err = p.Decode(ctx); err == nil {
			hash, thumbnail, err = probe.Look(ctx, d)
		}
	}
	if err != nil || hash == 0 {
		return "", thumbnail, ctx.Err()
	}
	return hash.String(), thumbnail, nil
}

// thumbnailOf returns the thumbnail of a video: that of its poster, or its first frame. A video whose frame cannot be
// read has none, and is saved all the same.
func (c *Composer) thumbnailOf(ctx context.Context, f compose.File, all []compose.File) ([]byte, error) {
	if i := slices.IndexFunc(all, func(f compose.File) bool { return f.Role == media.Poster }); i >= 0 {
		_, small, err := shown(ctx, all[i].Path)
		return small, err
	}
	small, err := c.Engine.Frame(ctx, f.Path)
	if err != nil && ctx.Err() == nil {
		slog.Warn("a video has no thumbnail", "error", err)
		return nil, nil
	}
	return small, err
}

// sign writes a signed copy of a file, and returns the name in the certificate. Without a certificate it
// returns no name, and counts that: the metadata of the file have its origin all the same.
func (c *Composer) sign(ctx context.Context, from origin, title, mimeType string, file io.ReadSeeker,
	to io.ReadWriteSeeker) (string, error) {
	if c.Credentials == nil {
		return "", nil
	}
	claim := provenance.Claim{Title: title, Source: from.Source, Models: from.models, Prompt: from.prompt}
	for _, in := range from.ingredients {
		part, err := os.Open(in.path)
		if err != nil {
			return "", fmt.Errorf("stored: %w", err)
		}
		defer part.Close()
		in.File = part
		claim.Ingredients = append(claim.Ingredients, in.Ingredient)
	}
	if len(claim.Ingredients) == 1 && from.Source == "" {
		claim.Ingredients[0].Relation = provenance.Parent // the caller's own file, in the size of a platform
	}
	signer, err := c.Credentials.Sign(ctx, from.test, claim, mimeType, file, to)
	switch {
	case err != nil:
		metric.Count("UnsignedMedia", "reason", "signing")
		return "", fmt.Errorf("stored: sign: %w", err)
	case signer == "":
		metric.Count("UnsignedMedia", "reason", "certificate")
	}
	return signer, nil
}

// lastDays say that an offer ends with a day, by language: %[1]d is the day, %[2]d the number of the month and %[3]s
// its English name.
var lastDays = map[string]string{
	"en": "until %[1]d %[3]s", "de": "bis %[1]d.%[2]d.", "fr": "jusqu’au %[1]d/%[2]d", "es": "hasta el %[1]d/%[2]d",
	"it": "fino al %[1]d/%[2]d", "pt": "até %[1]d/%[2]d", "nl": "t/m %[1]d-%[2]d", "pl": "do %[1]d.%[2]d",
	"ru": "до %[1]d.%[2]d", "uk": "до %[1]d.%[2]d", "tr": "son gün %[1]d.%[2]d", "ar": "حتى %[1]d/%[2]d",
	"he": "עד %[1]d.%[2]d", "hi": "%[1]d/%[2]d तक", "th": "ถึง %[1]d/%[2]d", "vi": "đến %[1]d/%[2]d",
	"id": "sampai %[1]d/%[2]d", "zh": "至%[2]d月%[1]d日", text.Traditional: "至%[2]d月%[1]d日",
	"ja": "%[2]d月%[1]d日まで", "ko": "%[2]d월 %[1]d일까지", "sv": "t.o.m. %[1]d/%[2]d", "da": "t.o.m. %[1]d.%[2]d.",
	"nb": "t.o.m. %[1]d.%[2]d.", "fi": "%[1]d.%[2]d. asti", "cs": "do %[1]d. %[2]d.", "ro": "până pe %[1]d.%02[2]d",
	"hu": "%02[2]d.%02[1]d-ig", "el": "έως %[1]d/%[2]d", "bg": "до %[1]d.%02[2]d",
}

// Until says when an offer ends in a language (BCP 47), or nothing in a language that the table lacks.
func Until(day time.Time, lang string) string {
	pattern, known := text.In(lastDays, lang)
	if !known || day.IsZero() {
		return ""
	}
	return fmt.Sprintf(pattern, day.Day(), int(day.Month()), day.Format("Jan"))
}

// percent writes a whole percentage as a language (BCP 47) does.
func percent(n int64, lang string) string {
	tag, err := language.Parse(lang)
	if err != nil {
		tag = language.English
	}
	said := message.NewPrinter(tag).Sprint(number.Percent(float64(n) / 100))
	if said = strings.Replace(said, "-", "−", 1); !script.Drawable(said) {
		return fmt.Sprintf("−%d %%", -n)
	}
	return said
}

// drawn has what draws the pictures of samples, by their keys.
var drawn = map[string]func(x, y float64) color.RGBA{
	generate.SamplePhoto.Key: landscape, generate.SampleProduct.Key: bottle,
}

// The width and height of the pictures that samples show.
const sampleWide, sampleTall = 1080, 1350

// writeSample writes a picture that is drawn point by point. The points go from 0 to 1.
func writeSample(path string, draw func(x, y float64) color.RGBA) error {
	picture := image.NewRGBA(image.Rect(0, 0, sampleWide, sampleTall))
	for y := range sampleTall {
		for x := range sampleWide {
			picture.SetRGBA(x, y, draw(float64(x)/sampleWide, float64(y)/sampleTall))
		}
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("stored: %w", err)
	}
	if err = jpeg.Encode(file, picture, &jpeg.Options{Quality: 92}); err != nil {
		file.Close()
		return fmt.Errorf("stored: sample: %w", err)
	}
	return file.Close()
}

// landscape is the photo: hills under an evening sky.
func landscape(x, y float64) color.RGBA {
	if math.Hypot((x-0.68)*0.8, y-0.3) < 0.075 {
		return color.RGBA{255, 238, 205, 255}
	}
	at := blend(color.RGBA{92, 124, 168, 255}, color.RGBA{244, 190, 150, 255}, y/0.6)
	for i, hill := range []struct{ top, high, wide, shift float64 }{{0.5, 0.06, 5, 0.4}, {0.62, 0.08, 4, 2.1},
		{0.78, 0.07, 6, 4}} {
		if y > hill.top+hill.high*math.Sin(hill.wide*x+hill.shift) {
			at = blend(color.RGBA{96, 118, 112, 255}, color.RGBA{34, 56, 58, 255}, float64(i)/2+(y-hill.top)/3)
		}
	}
	return at
}

// bottle is a bottle on white, as photos of products are.
func bottle(x, y float64) color.RGBA {
	half := 0.0 // of its width
	switch {
	case y > 0.08 && y < 0.15: // the cap
		half = 0.085
	case y >= 0.15 && y < 0.26: // the neck
		half = 0.07
	case y >= 0.26 && y < 0.38:
		half = 0.07 + 0.19*math.Sin((y-0.26)/0.12*math.Pi/2)
	case y >= 0.38 && y < 0.93:
		half = 0.26
	}
	off := math.Abs(x - 0.5)
	if off >= half {
		return color.RGBA{255, 255, 255, 255}
	}
	at := color.RGBA{38, 110, 96, 255}
	switch {
	case y < 0.15:
		at = color.RGBA{40, 40, 44, 255}
	case y > 0.52 && y < 0.78:
		at = color.RGBA{240, 232, 214, 255}
	}
	return blend(at, color.RGBA{14, 24, 26, 255}, 0.75*math.Pow((x-0.5+half)/(2*half), 3))
}

// blend returns the color at a part, from 0 to 1, of the way between two.
func blend(a, b color.RGBA, part float64) color.RGBA {
	part = min(max(part, 0), 1)
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + (float64(b)-float64(a))*part) }
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}
