package template

import (
	"cmp"
	"context"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/script"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	record "github.com/content-automation/api/pkg/record/template"
	"github.com/content-automation/api/pkg/store"
)

// PreviewKind is the kind of the item of a preview, and PreviewPrefix the prefix of its id, which callers do not see.
const (
	PreviewKind   = "template_preview"
	PreviewPrefix = "tpv"
)

// attempt is the number of a preview's only attempt: another one is another preview.
const attempt = 1

// Preview is pictures of a template with samples.
type Preview struct {
	// The last two are final.
	State studio.State `json:"state" enum:"queued,generating,generated,failed"`
	// Kind of content that the preview shows.
	Kind string `json:"kind" example:"post"`
	// Version of the template that it shows.
	Version int64 `json:"version"`
	// Its pictures. Each GET signs their URLs for one hour.
	Media []media.View `json:"media" nullable:"false"`
	// Reason of the failure. Null if it has not failed.
	Failure *studio.Failure `json:"failure"`
	// Time at which it was requested.
	CreatedAt resource.Time `json:"created_at"`
}

// Accepted is a preview that was just accepted.
type Accepted struct {
	Preview
	// Id of the template, whose GET shows the preview.
	ID string `json:"id" example:"tpl_01h455vb4pex5vsknk084sn02q"`
}

// Pending returns the path that shows the preview, and the time to look at it.
func (a Accepted) Pending() (path string, after time.Duration) {
	return "/v1/templates/" + a.ID, usual
}

// usual is the time that a preview takes, with its wait in the queue.
const usual = 5 * time.Second

// previewRecord is the stored document of a preview: with all that it shows, so that a change of the template or of the
// factory does not change it.
type previewRecord struct {
	ID string `json:"id"`
	Preview
	Text     sample          `json:"text"`
	Language string          `json:"language"`
	Brand    *generate.Brand `json:"brand"`
	Files    []media.File    `json:"files,omitempty"`
	Ticket   generate.Ticket `json:"ticket,omitzero"`
}

func decodePreview(it store.Item) (*previewRecord, error) {
	var r previewRecord
	return &r, it.Decode(&r)
}

// runs reports whether the preview has not ended.
func (r *previewRecord) runs() bool { return r.State == studio.Queued || r.State == studio.Generating }

// last returns the last preview, by the notes of its template. The record is nil if there is none: that of a sandbox
// ends after 30 days.
func (s *Service) last(ctx context.Context, n *record.Notes) (it store.Item, r *previewRecord, err error) {
	if n.Preview == "" {
		return it, nil, nil
	}
	if it, err = s.db.Lookup(ctx, store.IDKey(n.Preview)); err != nil || it.Kind != PreviewKind {
		return it, nil, err
	}
	r, err = decodePreview(it)
	return it, r, err
}

type previewBody struct {
	// Kind of content that the preview shows. product is a post of a product with its price, video the cover, the scene
	// of a product and the end card, and music a moment of a music clip.
	Kind string `json:"kind,omitempty" enum:"post,carousel,story,product,video,music" default:"post"`
	// The preview shows the name, logo, colors and font of this factory. Absent: those of a sample.
	FactoryID string `json:"factory_id,omitempty" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// The preview shows the name and logo of this profile, with the colors, font and language of its newest factory, or
	// without one those of a sample. Use it instead of factory_id.
	ProfileID string `json:"profile_id,omitempty" example:"prf_01h455vb4pex5vsknk084sn02q"`
	// Absent: a sample in the language.
	Heading string `json:"heading,omitempty" format:"line-not-blank" maxLength:"120"`
	// Text of slides. Absent: a sample.
	Text string `json:"text,omitempty" format:"line-not-blank" maxLength:"300"`
	// Language of the texts (BCP 47). Absent: that of the factory, or en.
	Language string `json:"language,omitempty" maxLength:"35" example:"ar"`
}

type previewInput struct {
	httpapi.IfMatch
	Body *previewBody
}

// parts are those of a preview: the composition alone.
var parts = []generate.Part{{Kind: provider.KindCompose, Provider: generate.Composed}}

// preview accepts a preview, which replaces the last one.
func (s *Service) preview(ctx context.Context, tx *store.Tx, in *previewInput) (out Accepted, err error) {
	f, err := s.templates.Find(ctx, httpapi.PathID(ctx), in.IfMatch)
	if err != nil {
		return out, err
	}
	n, err := record.NotesOf(f.Beside[0])
	if err != nil {
		return out, err
	}
	now, o, b := s.now(), f.Item.Owner, previewBody{}
	if in.Body != nil {
		b = *in.Body
	}
	r := &previewRecord{ID: id.New(PreviewPrefix, now), Preview: Preview{State: studio.Queued,
		Kind: cmp.Or(b.Kind, "post"), Version: f.Record.Version, Media: []media.View{},
		CreatedAt: resource.Instant(now)}}
	if err := s.replaced(ctx, tx, &n); err != nil {
		return out, err
	}
	if err := s.fill(ctx, r, b, f); err != nil {
		return out, err
	}
	order := generate.Order{Owner: o, Subject: r.ID, Attempt: attempt, Parts: parts, ResultName: "template.preview"}
	if r.Ticket, err = generate.Accept(tx, now, order, ledger.PayerOf(now, auth.FromContext(ctx)),
		ledger.Balance{}); err != nil {
		return out, err
	}
	it, err := store.NewItem(PreviewKind, o, r.ID, r)
	if err != nil {
		return out, err
	}
	tx.Create(it, nil)
	n.Preview = r.ID
	return Accepted{r.Preview, f.Record.ID}, n.Write(tx)
}

// replaced ends the last preview, and refuses another one while it is made: so a template has one at a time.
func (s *Service) replaced(ctx context.Context, tx *store.Tx, n *record.Notes) error {
	it, r, err := s.last(ctx, n)
	if err != nil || r == nil {
		return err
	}
	if r.runs() {
		e := errs.New(errs.InvalidState, "A preview of this template is being made. Wait for its end.").In(
			string(r.State))
		e.RetryAfter = time.Second
		return e
	}
	tx.Delete(it)
	return generate.RemoveFiles(tx, s.now(), it.Owner, r.ID, attempt)
}

// brandOf returns the brand that a preview shows, and the language of its factory, if it has one.
func (s *Service) brandOf(ctx context.Context, b previewBody, of *kind.Found[record.Record]) (brand generate.Brand,
	tag string, err error) {
	switch {
	case b.FactoryID != "" && b.ProfileID != "":
		return brand, "", errs.Invalid("/profile_id", "cannot be sent with factory_id. Send one of them.")
	case b.ProfileID != "":
		return s.ofProfile(ctx, b.ProfileID, of)
	case b.FactoryID == "":
		return sampleBrand, "", nil
	}
	f, it, err := s.factories.Find(ctx, b.FactoryID)
	if err = usable(of, it.Owner, factory.Kind, b.FactoryID, err); err != nil {
		return brand, "", errs.At("/factory_id", err)
	}
	return ofFactory(f, of)
}

// usable returns the error of looking a resource up, or that it is missing if the template may not use it.
func usable(of *kind.Found[record.Record], owner tenant.Owner, kind, resourceID string, err error) error {
	if err == nil && !owner.Uses(of.Item.Owner) {
		err = errs.Missing(kind, resourceID)
	}
	return err
}

// ofFactory returns the brand of a factory with the design of the template, and its language.
func ofFactory(f factory.Factory, of *kind.Found[record.Record]) (brand generate.Brand, tag string, err error) {
	brief, err := content.NewBrief(f, f.Legal, &of.Record.Design)
	if err != nil {
		return brand, "", err
	}
	return *brief.Brand, f.Language, nil // with a design it is never nil
}

// ofProfile returns the brand of a profile: its name and logo, and the rest of its newest factory. A logo that was
// deleted is left out.
func (s *Service) ofProfile(ctx context.Context, profileID string, of *kind.Found[record.Record]) (b generate.Brand,
	tag string, err error) {
	it, err := resource.Find(ctx, s.db, id.Profile, profile.Kind, profileID)
	if err = usable(of, it.Owner, profile.Kind, profileID, err); err != nil {
		return b, "", errs.At("/profile_id", err)
	}
	p, err := profile.Decode(&it)
	if err != nil {
		return b, "", err
	}
	b = sampleBrand
	f, found, err := s.factories.Newest(ctx, it.Owner)
	if err == nil && found {
		b, tag, err = ofFactory(f, of)
	}
	if b.Name = p.Name; err != nil || p.Logo == nil {
		return b, tag, err
	}
	logo := incoming.Member{Param: "/profile_id", Value: *p.Logo, Type: media.Image}
	given, err := incoming.Read(ctx, s.db, []incoming.Member{logo})
	if err != nil {
		return b, tag, err
	}
	if file, err := given.For(it.Owner).File(logo); err == nil {
		b.Logo = &file
	}
	return b, tag, nil
}

// fill gives a preview its texts and its brand.
func (s *Service) fill(ctx context.Context, r *previewRecord, b previewBody, of *kind.Found[record.Record]) error {
	brand, own, err := s.brandOf(ctx, b, of)
	if err != nil {
		return err
	}
	brand.Design = &of.Record.Design
	tag, err := factory.Language(cmp.Or(b.Language, own), "en")
	if err != nil {
		return err
	}
	if !script.CoversLanguage(tag) {
		return errs.Invalid("/language", "is in a writing system of which there is no font. Texts in finished media "+
			"are in "+script.Names)
	}
	texts, known := text.In(samples, tag)
	if !known && b.Heading == "" { // a sample is in its own language
		tag = "en"
	}
	if own == "" {
		brand.Call = texts.Call
	}
	r.Text = sample{Heading: cmp.Or(b.Heading, texts.Heading), Body: cmp.Or(b.Text, texts.Body)}
	r.Brand, r.Language = &brand, tag
	place, ok := places[r.Kind]
	if !ok {
		place = script.Slide
	}
	return errs.All(item.CheckDrawn("/heading", "", r.Text.Heading, &place),
		item.CheckDrawn("/text", "", r.Text.Body, &script.Body))
}

// places are those of the heading, where it is not as on a slide.
var places = map[string]script.Place{"story": script.Story, "video": script.Screen, "music": script.Track}

// Loader opens previews for the worker that composes them.
type Loader struct{}

var _ generate.Loader = Loader{}

// Open reads the item of a preview for its work.
func (Loader) Open(it store.Item) (generate.Work, error) {
	r, err := decodePreview(it)
	if err != nil {
		return nil, err
	}
	return &work{it, r}, nil
}

// work is the work of a preview.
type work struct {
	item store.Item
	*previewRecord
}

var (
	_ generate.Composing = (*work)(nil)
	_ generate.Sampling  = (*work)(nil)
)

func (w *work) WaitsForAttempt() int {
	if w.runs() {
		return attempt
	}
	return 0
}

func (w *work) Ticket() *generate.Ticket { return &w.previewRecord.Ticket }

func (w *work) About() ledger.About { return ledger.About{} }

// Request implements generate.Work. It is not called: no model makes a preview.
func (w *work) Request(int, []generate.PartResult) (provider.Request, error) {
	return provider.Request{}, nil
}

// Composition implements generate.Composing: samples in the design.
func (w *work) Composition(int, []generate.PartResult) (generate.Composition, error) {
	text, photo, product := w.Text, generate.SamplePhoto, generate.SampleProduct
	picture := generate.Picture{Use: generate.Post, File: &photo, Text: text.Heading, Language: w.Language,
		Brand: w.Brand}
	switch w.Kind {
	case "carousel":
		c := generate.Carousel{Language: w.Language, Brand: w.Brand}
		for range len(w.Brand.Design.Slides) + 2 { // the first, each layout of those between, and the last
			c.Slides = append(c.Slides, generate.Slide{File: &photo, Heading: text.Heading, Body: text.Body})
		}
		return c, nil
	case "story":
		picture.Use = generate.Story
	case "music":
		return generate.MusicClip{Cover: &photo, Length: minMusic, Title: text.Heading, Artist: w.Brand.Name,
			Language: w.Language, Brand: w.Brand, Frames: true}, nil
	case "product", "video":
		picture.File, picture.Whole = &product, true
		picture.Offer = &generate.Offer{Price: &money.Price{Amount: 7900, Currency: "EUR"},
			Was: &money.Price{Amount: 9900, Currency: "EUR"}, Percent: 20, Shop: w.Brand.Name, Action: w.Brand.Call,
			Address: w.Brand.Address, Until: w.CreatedAt.AddDate(0, 0, 14)}
	}
	if w.Kind == "video" {
		return generate.Video{Format: generate.Portrait, Language: w.Language, Captions: true, Headline: text.Heading,
			Brand: w.Brand, Offer: picture.Offer, Frames: true, Scenes: []generate.Scene{{Text: text.Body,
				Picture: &product, OnScreen: text.Heading, Whole: true}}}, nil
	}
	return picture, nil
}

// minMusic is the length of a music clip, of which a preview shows one moment.
const minMusic = 15 * time.Second

// Gave implements generate.Composing: a preview costs nothing, whatever it fails for.
func (w *work) Gave(*provider.Error) bool { return false }

// Sample implements generate.Sampling: nobody publishes what it makes.
func (w *work) Sample() {}

func (w *work) Start(time.Time) { w.State = studio.Generating }

// Progress implements generate.Work. A preview takes seconds, and shows none.
func (w *work) Progress(time.Time, int) bool { return false }

func (w *work) Succeed(_ *store.Tx, _ time.Time, made []generate.PartResult, _ int64) error {
	w.State, w.Files = studio.Generated, made[len(made)-1].Files
	return nil
}

func (w *work) Fail(_ *store.Tx, _ time.Time, f generate.Failure) error {
	w.State, w.Failure = studio.Failed, &studio.Failure{Code: f.Code, Message: f.Message, Retryable: f.Retryable}
	return nil
}

// Cancel implements generate.Work. Only the deletion of a template cancels, which deletes the preview.
func (w *work) Cancel(*store.Tx, time.Time, int64, []generate.PartResult) error {
	w.State, w.previewRecord.Ticket = studio.Failed, generate.Ticket{}
	return nil
}

func (w *work) Item() (store.Item, error) {
	err := w.item.Encode(w.previewRecord)
	return w.item, err
}

// sample is the texts of a preview.
type sample struct {
	Heading string `json:"heading"`
	Body    string `json:"body"`
	// Call is the call to action of the brand of previews without a factory.
	Call string `json:"-"`
}

// sampleBrand is the brand of previews without a factory.
var sampleBrand = generate.Brand{Name: "Acme", Color: "#1f5eff", More: []string{"#ffb300"}, Address: "acme.example"}

// samples are texts by the language, one for each script at least.
var samples = map[string]sample{
	"en": {"From net to sole", "Each pair has two square meters of old fishing nets.", "Shop now"},
	"de": {"Vom Netz zur Sohle", "In jedem Paar stecken zwei Quadratmeter alte Fischernetze.", "Jetzt kaufen"},
	"es": {"De la red a la suela", "Cada par lleva dos metros cuadrados de redes viejas.", "Comprar ahora"},
	"fr": {"Du filet à la semelle", "Chaque paire contient deux mètres carrés de vieux filets.", "Acheter"},
	"it": {"Dalla rete alla suola", "In ogni paio ci sono due metri quadrati di vecchie reti.", "Acquista ora"},
	"pt": {"Da rede à sola", "Cada par leva dois metros quadrados de redes velhas.", "Comprar agora"},
	"nl": {"Van net tot zool", "In elk paar zit twee vierkante meter oud visnet.", "Nu kopen"},
	"pl": {"Od sieci do podeszwy", "W każdej parze są dwa metry kwadratowe starych sieci.", "Kup teraz"},
	"tr": {"Ağdan tabana", "Her çiftte iki metrekare eski balık ağı var.", "Şimdi al"},
	"vi": {"Từ lưới đến đế giày", "Mỗi đôi dùng hai mét vuông lưới đánh cá cũ.", "Mua ngay"},
	"id": {"Dari jaring ke sol", "Setiap pasang memakai dua meter persegi jaring tua.", "Beli sekarang"},
	"ru": {"Из сети в подошву", "В каждой паре два квадратных метра старых сетей.", "Купить"},
	"uk": {"Від сітки до підошви", "У кожній парі два квадратні метри старих сіток.", "Купити"},
	"el": {"Από το δίχτυ στη σόλα", "Κάθε ζευγάρι έχει δύο τετραγωνικά μέτρα παλιά δίχτυα.", "Αγορά"},
	"ar": {"من الشبكة إلى النعل", "في كل زوج متران مربعان من الشباك القديمة.", "تسوّق الآن"},
	"fa": {"از تور تا کف کفش", "در هر جفت دو متر مربع تور ماهیگیری کهنه هست.", "خرید"},
	"ur": {"جال سے تلوے تک", "ہر جوڑے میں دو مربع میٹر پرانے جال ہیں۔", "ابھی خریدیں"},
	"he": {"מהרשת אל הסוליה", "בכל זוג שני מטרים רבועים של רשתות ישנות.", "לקנייה"},
	"hi": {"जाल से तलवे तक", "हर जोड़ी में दो वर्ग मीटर पुराने जाल हैं।", "अभी खरीदें"},
	"ja": {"網から靴底へ", "一足に古い漁網が二平方メートル使われています。", "今すぐ購入"},
	"ko": {"그물에서 밑창까지", "한 켤레에 낡은 그물 2제곱미터가 들어갑니다.", "지금 구매"},
	"th": {"จากตาข่ายสู่พื้นรองเท้า", "แต่ละคู่ใช้ตาข่ายเก่าสองตารางเมตร", "ซื้อเลย"},
	"zh": {"从渔网到鞋底", "每双鞋用掉两平方米旧渔网。", "立即购买"},

	text.Traditional: {"從漁網到鞋底", "每雙鞋用掉兩平方公尺舊漁網。", "立即購買"},
}
