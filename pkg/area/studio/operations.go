// Package studio holds the operations of the studio: they make one picture, clip, track, voice or avatar each, with one
// model. Service.Register in operations.go has the operations.
package studio

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/text/language"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Service creates, reads and deletes generations.
type Service struct {
	db     *store.DB
	signer *media.Signer
	urls   area.Client
	offer  catalog.Offer
	now    func() time.Time

	generations *kind.Kind[Record]
}

// NewService makes the service. The offer is what the stack has of the catalog.
func NewService(db *store.DB, signer *media.Signer, urls area.Client, offer catalog.Offer,
	now func() time.Time) *Service {
	return &Service{db, signer, urls, offer, now, generations.On(db, now)}
}

var generations = kind.Kind[Record]{Name: ItemKind, ID: id.Generation, Path: "/v1/studio/generations/{generation_id}",
	Function: "studio", Tag: "Studio", Reads: auth.StudioUse, Writes: auth.StudioUse}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, e.Media, NewClient(e), e.Offer(), e.Now).Register(r)
}

type createInput[B body] struct {
	Body B
	// recording is the recording of the call, read by an earlier run of the operation.
	recording *recording
}

type listInput struct {
	httpapi.PageInput
	resource.MetadataFilter
	profile.Filter
	httpapi.Period
	// Only generations of these kinds, separated by commas.
	Kind []string `query:"kind" filter:"kind" enum:"video,image,music,voice,avatar" nullable:"false"`
	// Only generations in these states, separated by commas.
	State []string `query:"state" filter:"state" enum:"queued,generating,generated,failed,canceled" nullable:"false"`
	// Only generations of this model. Any id is taken, also that of a model that is no longer in the catalog.
	Model string `query:"model" filter:"model"`
}

var op = httpapi.ScopedOps("studio", "Studio", auth.StudioUse)

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	register[videoBody](s, r, "createVideo", "videos", "Make a video", "Makes a video from a text or an image.")
	register[imageBody](s, r, "createImage", "images", "Make images", "Makes images from a text. Some models start "+
		"from an image.")
	register[musicBody](s, r, "createMusic", "music", "Make music", "Makes a track from a description, with lyrics "+
		"if the model supports them.")
	register[voiceBody](s, r, "createVoice", "voices", "Speak a text", "")
	register[avatarBody](s, r, "createAvatar", "avatars", "Make a talking avatar",
		"Makes a video of a person who speaks a text or a recording.")
	s.registerEstimate(r)

	kind.List[listInput](r, s.generations, httpapi.Op{ID: "listGenerations", Summary: "List the generations",
		Description: "Newest first."}, s.view)
	kind.Get(r, s.generations, httpapi.Op{ID: "getGeneration", Summary: "Get a generation",
		Description: "The URLs of its media are signed anew."}, s.view)
	httpapi.Write(r, s.generations.Op(httpapi.Op{ID: "deleteGeneration", Summary: "Cancel or delete a generation",
		Description: "Cancels a generation that is queued or being generated: what the provider has completed is " +
			"charged, and the rest of the reserved credits is released at once. It stays in the list, in state " +
			"`canceled`; no event is sent. Deletes a generation that has ended, with its media; the response shows " +
			"it in its last state."}, http.MethodDelete, s.generations.Path), s.remove)
}

// register puts the operation that creates generations of one kind into the router.
func register[B body](s *Service, r *httpapi.Router, id, path, summary, description string) {
	if description != "" {
		description += " "
	}
	create := op(id, http.MethodPost, "/v1/studio/"+path, summary,
		description+"The generation runs in the background; the event `studio.generated` or `studio.failed` reports "+
			"its end. The cost is reserved now, charged on success and released on failure. A result that is more "+
			"than one unit of the model's price and 10% longer or larger than reserved for is charged as it is; if "+
			"the balance or the limit of the key does not cover that, the generation fails and the result is "+
			"removed. `POST /v1/studio/estimates` returns it beforehand. With a test key nothing is spent, and "+
			"`sandbox` selects the result.")
	create.Status, create.Opens = http.StatusAccepted, httpapi.Spending
	create.Errors = []errs.Code{errs.NotFound, errs.UnsupportedModel, errs.InsufficientBalance, errs.SpendLimitReached,
		errs.QueueFull}
	if id == "createAvatar" { // which alone reads a recording
		create.Errors = append(create.Errors, errs.UnsupportedMedia)
	}
	httpapi.Write(r, create, func(ctx context.Context, tx *store.Tx,
		in *createInput[B]) (Generation, error) {
		return s.create(ctx, tx, in.Body, &in.recording)
	})
}

// order is a generation that can be made: its model, input and price, and the speech that an avatar is given.
type order struct {
	model   catalog.Model
	input   Input
	credits int64
	speech  *recording
	files   files
}

// order chooses the model for an input and refuses inputs that the model does not support. Prefix is the place of the
// input in the body. Live work needs a model that the stack offers and that has a price. The speech is read, unless it
// was heard before. Other items are read together with the media of the caller that the input refers to, of which the
// owner of the generation may use some.
func (s *Service) order(ctx context.Context, owner tenant.Owner, kind provider.Kind, model string,
	in Input, prefix string, live bool, heard *recording, others ...store.Key) (order, error) {
	chosen, err := s.offer.ChooseFor(in.Request(kind), model, live)
	if err != nil {
		return order{}, err
	}
	m, _ := s.offer.Find(chosen) // it was chosen from there
	in = effective(m, in)
	req := in.Request(kind)
	if err := m.Check(req, prefix); err != nil {
		return order{}, err
	}
	given, err := s.files(ctx, owner, in, prefix, others)
	if err != nil {
		return order{}, err
	}
	if tag, err := language.Parse(in.Language); err == nil {
		in.Language = tag.String() // in canonical form, as factories have it
	}
	o := order{model: m, speech: heard, files: given}
	if kind == provider.KindAvatar && in.AudioURL != "" {
		if req.SpeechLength = given.spoken(); req.SpeechLength == 0 {
			if o.speech == nil {
				if o.speech, err = s.record(ctx, in.AudioURL, prefix+"/audio_url"); err != nil {
					return order{}, err
				}
			}
			req.SpeechLength = o.speech.Duration
		}
		in.Seconds = int(math.Ceil(req.SpeechLength.Seconds()))
		if err := m.Check(req, prefix); err != nil {
			return order{}, err
		}
	}
	o.input = in
	if m.Price != nil {
		o.credits, err = m.PriceOf(req)
	}
	return o, err
}

// effective returns the input with the defaults of the model filled in, as far as they are
// known. Invalid members stay, to be refused.
func effective(m catalog.Model, in Input) Input {
	// a picture of a picture keeps its shape
	if in.AspectRatio == "" && (in.ImageURL == "" || m.Kind != provider.KindImage) {
		in.AspectRatio = m.DefaultRatio()
	}
	switch m.Kind {
	case provider.KindVideo, provider.KindMusic:
		if in.Seconds == 0 {
			in.Seconds = m.Length(0)
		}
	case provider.KindImage:
		in.Count = max(in.Count, 1)
	case provider.KindVoice:
		if in.Voice == "" && in.AudioURL == "" {
			in.Voice = m.DefaultVoice(in.Language)
		}
	case provider.KindAvatar:
		if in.Avatar == "" && in.ImageURL == "" && in.VideoURL == "" {
			in.Avatar = m.DefaultAvatar()
		}
		if in.Voice == "" && in.AudioURL == "" {
			in.Voice = m.DefaultVoice(in.Language)
		}
	}
	return in
}

func (s *Service) create(ctx context.Context, tx *store.Tx, b body,
	heard **recording) (out Generation, err error) {
	kind, c, in := b.input()
	p, now := auth.FromContext(ctx), s.now()
	live := p.Mode == tenant.Live
	if err := errs.All(checkRehearsal(c.Sandbox, p.Mode), rules(b)); err != nil {
		return out, err
	}
	owner, err := c.ProfileMember.Owner(ctx, tx, now)
	if err != nil {
		return out, err
	}
	var funds []store.Key
	if live {
		funds = ledger.FundsKeys(p.Account, now)
	}
	o, err := s.order(ctx, owner, kind, c.Model, in, "", live, *heard, funds...)
	if err != nil {
		return out, err
	}
	*heard = o.speech
	r := &Record{
		Generation: Generation{
			Resource:  resource.New(id.New(id.Generation, now), now, c.Metadata),
			ProfileID: owner.ProfileID(),
			Kind:      kind, Model: o.model.ID, Input: o.input, State: Queued,
		},
		Sandbox: c.Sandbox, GivenFiles: o.files.media,
	}
	if err := o.files.Use(tx, now); err != nil {
		return out, err
	}
	if o.speech != nil && live {
		file, err := s.signer.KeepInput(ctx, owner, o.speech.Ext, o.speech.file(), o.speech.content)
		if err != nil {
			return out, err
		}
		r.GivenFiles[AudioMember] = file
	}
	resource.Makes(ctx, resource.Concern{Kind: string(kind)})
	a := generate.Order{
		Owner: owner, Subject: r.ID, Attempt: Attempt, About: r.About(),
		ResultName: "generation." + string(kind),
		Parts: []generate.Part{{Kind: kind, Model: o.model.ID, PricedIn: o.model.Place, Provider: o.model.Provider},
			{Kind: provider.KindSign, Provider: generate.Composed}},
	}
	if c.Sandbox != nil {
		if err := generate.RehearsedError(c.Sandbox.Outcome, o.credits, p); err != nil {
			return out, err
		}
		a.Delay = c.Sandbox.Delay()
	}
	r.Usual = a.Usual()
	var balance ledger.Balance
	if live {
		a.Parts[0].Credits = o.credits
		balance = ledger.FundsOf(o.files.Beside)
	}
	if r.Ticket, err = generate.Accept(tx, now, a, ledger.PayerOf(now, p), balance); err != nil {
		return out, err
	}
	it, err := r.Entry(owner)
	if err != nil {
		return out, err
	}
	tx.Create(it, nil)
	return r.View(ctx, s.signer)
}

// checkRehearsal rejects instructions for the sandbox that come with a live key, or contradict each other.
func checkRehearsal(r *Rehearsal, mode tenant.Mode) error {
	if r == nil {
		return nil
	}
	return cmp.Or(httpapi.CheckSandbox(true, mode), r.Check(r.Outcome))
}

// view returns a generation with signed media.
func (s *Service) view(ctx context.Context, f *kind.Found[Record]) (Generation, error) {
	return f.Record.View(ctx, s.signer)
}

// remove cancels a generation that runs, and deletes one that has ended. The answer of
// the latter shows it in its last state, without the media.
func (s *Service) remove(ctx context.Context, tx *store.Tx, in *httpapi.IfMatch) (out Generation, err error) {
	generationID := httpapi.PathID(ctx)
	f, err := s.generations.FindWith(ctx, generationID, []httpapi.IfMatch{*in}, generate.TaskKey(generationID, Attempt))
	if err != nil {
		return out, err
	}
	r, now := f.Record, s.now()
	if !r.Runs() {
		tx.Delete(f.Item)
		r.Touch(now)
		r.Media = []media.View{}
		return r.Generation, generate.RemoveFiles(tx, now, f.Item.Owner, r.ID, Attempt)
	}
	if r.CostCredits, _, err = generate.Cancel(tx, now, f.Item.Owner, &r.Ticket, f.Beside[0]); err != nil {
		return out, err
	}
	r.State, r.Ticket = Canceled, generate.Ticket{}
	if err := s.generations.Replace(tx, f); err != nil {
		return out, err
	}
	return s.view(ctx, f)
}

// The bodies of the creating operations. Each takes the members of its kind, so that a
// member of another kind is refused and never lost silently.
type (
	Common struct {
		profile.ProfileMember
		// Id of a model of this kind. Absent: the default of the catalog.
		Model string `json:"model,omitempty" maxLength:"100"`
		// Simulated result. For test keys only.
		Sandbox *Rehearsal `json:"sandbox,omitempty"`
		// Up to 20 key-value pairs of your own.
		Metadata resource.Metadata `json:"metadata,omitempty"`
	}
	videoBody struct {
		Common
		// Description of what to make.
		Prompt string `json:"prompt" format:"studio-prompt"`
		// Aspect ratio, one of the model's aspect_ratios.
		AspectRatio string `json:"aspect_ratio,omitempty" maxLength:"10" example:"9:16"`
		// Length, within the limits of the model. Absent: the default of the model.
		Seconds int `json:"duration_seconds,omitempty" minimum:"1" maximum:"600"`
		// Image to start from: a public https URL, or the id of one of your media.
		ImageURL string `json:"image_url,omitempty" maxLength:"2048"`
	}
	imageBody struct {
		Common
		// Description of what to make.
		Prompt string `json:"prompt" format:"studio-prompt"`
		// Aspect ratio, one of the model's aspect_ratios.
		AspectRatio string `json:"aspect_ratio,omitempty" maxLength:"10" example:"4:5"`
		// Number of images. Absent: 1.
		Count int `json:"count,omitempty" minimum:"1" maximum:"10"`
		// Image to start from: a public https URL, or the id of one of your media.
		ImageURL string `json:"image_url,omitempty" maxLength:"2048"`
	}
	musicBody struct {
		Common
		// Description of what to make.
		Prompt string `json:"prompt" minLength:"1" maxLength:"4000" example:"Calm piano over soft rain"`
		// Length, within the limits of the model. Absent: the default of the model.
		Seconds int `json:"duration_seconds,omitempty" minimum:"1" maximum:"600"`
		// Lyrics, if the model supports them.
		Lyrics string `json:"lyrics,omitempty" maxLength:"3000"`
	}
	voiceBody struct {
		Common
		// Text to speak.
		Text string `json:"text" minLength:"1" maxLength:"100000" example:"Made of recycled nets."`
		// Language of the text (BCP 47).
		Language string `json:"language,omitempty" maxLength:"35" example:"en"`
		// The provider's id of a voice. Absent: a suitable one.
		Voice string `json:"voice,omitempty" maxLength:"100" format:"word"`
		// Sample of the voice to imitate, for models that require audio: a public https URL, or the id of one of your
		// media.
		AudioURL string `json:"audio_url,omitempty" maxLength:"2048"`
	}
	avatarBody struct {
		Common
		// Text to speak. Send this or audio_url.
		Text string `json:"text,omitempty" maxLength:"5000" example:"Made of recycled nets."`
		// Speech to use instead of text: the id of one of your media, or a public https URL of an MP3, WAV, AAC or M4A
		// of up to 25 MiB, which is fetched and measured now. Its length sets the price.
		AudioURL string `json:"audio_url,omitempty" maxLength:"2048"`
		// Image of the speaker: a public https URL, or the id of one of your media.
		ImageURL string `json:"image_url,omitempty" maxLength:"2048"`
		// Video whose lips are synchronized with the speech: a public https URL, or the id of one of your media.
		VideoURL string `json:"video_url,omitempty" maxLength:"2048"`
		// Aspect ratio, one of the model's aspect_ratios.
		AspectRatio string `json:"aspect_ratio,omitempty" maxLength:"10" example:"9:16"`
		// Language of the text (BCP 47).
		Language string `json:"language,omitempty" maxLength:"35" example:"en"`
		// The provider's id of a voice. Absent: a suitable one.
		Voice string `json:"voice,omitempty" maxLength:"100" format:"word"`
		// The provider's id of an avatar. Absent: a suitable one.
		Avatar string `json:"avatar,omitempty" maxLength:"100" format:"word"`
	}
)

// body is the common part of the bodies of the creating operations.
type body interface {
	// input returns the kind of the body and its content.
	input() (provider.Kind, Common, Input)
}

func (b videoBody) input() (provider.Kind, Common, Input) {
	return provider.KindVideo, b.Common, Input{Prompt: b.Prompt, AspectRatio: b.AspectRatio,
		Seconds: b.Seconds, ImageURL: b.ImageURL}
}

func (b imageBody) input() (provider.Kind, Common, Input) {
	return provider.KindImage, b.Common, Input{Prompt: b.Prompt, AspectRatio: b.AspectRatio, Count: b.Count,
		ImageURL: b.ImageURL}
}

func (b musicBody) input() (provider.Kind, Common, Input) {
	return provider.KindMusic, b.Common, Input{Prompt: b.Prompt, Seconds: b.Seconds, Lyrics: b.Lyrics}
}

func (b voiceBody) input() (provider.Kind, Common, Input) {
	return provider.KindVoice, b.Common, Input{Text: b.Text, Language: b.Language, Voice: b.Voice,
		AudioURL: b.AudioURL}
}

func (b avatarBody) input() (provider.Kind, Common, Input) {
	return provider.KindAvatar, b.Common, Input{
		Text: b.Text, AudioURL: b.AudioURL, ImageURL: b.ImageURL, VideoURL: b.VideoURL,
		AspectRatio: b.AspectRatio, Language: b.Language, Voice: b.Voice, Avatar: b.Avatar,
	}
}

// members are the members that an input of each kind may have.
var members = map[provider.Kind][]string{
	provider.KindVideo:  {"prompt", "aspect_ratio", "duration_seconds", "image_url"},
	provider.KindImage:  {"prompt", "aspect_ratio", "count", "image_url"},
	provider.KindMusic:  {"prompt", "duration_seconds", "lyrics"},
	provider.KindVoice:  {"text", "language", "voice", "audio_url"},
	provider.KindAvatar: {"text", "audio_url", "image_url", "video_url", "aspect_ratio", "language", "voice", "avatar"},
}

// Members returns the members that an input of each kind may have. The first says what to make.
func Members() map[provider.Kind][]string { return members }

// Rules refuses inputs that no video model can use.
func (b videoBody) Rules() error { return rules(b) }

// Rules refuses inputs that no image model can use.
func (b imageBody) Rules() error { return rules(b) }

// Rules refuses inputs that no music model can use.
func (b musicBody) Rules() error { return rules(b) }

// Rules refuses inputs that no voice model can use.
func (b voiceBody) Rules() error { return rules(b) }

// Rules refuses inputs that no avatar model can use.
func (b avatarBody) Rules() error { return rules(b) }

func rules(b body) error {
	kind, _, in := b.input()
	return check(kind, in, "")
}

// check refuses an input that no model of the kind can use. Prefix is the place of the input in the body.
func check(kind provider.Kind, in Input, prefix string) error {
	switch {
	case kind == provider.KindAvatar && text.IsBlank(in.Text) && in.AudioURL == "":
		return errs.Invalid(prefix+"/text", "is required, unless audio_url is sent")
	case kind == provider.KindAvatar && in.Text != "" && in.AudioURL != "":
		return errs.Invalid(prefix+"/audio_url", "cannot be sent together with text: send one of the two")
	case kind == provider.KindVoice && text.IsBlank(in.Text):
		return errs.Invalid(prefix+"/text", "must say what is spoken")
	case kind != provider.KindVoice && kind != provider.KindAvatar && text.IsBlank(in.Prompt):
		return errs.Invalid(prefix+"/prompt", "must say what to make")
	}
	return nil
}

// Estimate is the cost of a generation.
type Estimate struct {
	// Kind of the generation.
	Kind provider.Kind `json:"kind" enum:"video,image,music,voice,avatar"`
	// Id of the model.
	Model string `json:"model" example:"flux-pro-1.1"`
	// Credits that the generation costs with a live key.
	Credits int64 `json:"credits" example:"4"`
	// Price of the model, from which the cost is computed.
	Price *catalog.Price `json:"price"`
}

type estimateBody struct {
	// Kind of the generation.
	Kind provider.Kind `json:"kind" enum:"video,image,music,voice,avatar"`
	// Id of a model of the catalog. Absent: the default of the catalog.
	Model string `json:"model,omitempty" maxLength:"100"`
	// Input of the operation that creates this kind.
	Input givenInput `json:"input"`
}

// givenInput is an input with the names of the members that were sent: a creating operation
// refuses members of another kind, even empty ones.
type givenInput struct {
	Input
	members []string
}

// UnmarshalJSON reads the input.
func (g *givenInput) UnmarshalJSON(b []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		return err
	}
	g.members = slices.Sorted(maps.Keys(members))
	return json.Unmarshal(b, &g.Input)
}

// Schema describes the input in the OpenAPI document.
func (givenInput) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[Input](), true, "")
}

type estimateInput struct{ Body estimateBody }

// registerEstimate puts the operation into the router.
func (s *Service) registerEstimate(r *httpapi.Router) {
	estimate := op("estimateGeneration", http.MethodPost, "/v1/studio/estimates", "Estimate a generation",
		"Returns the cost of a generation with a live key. Nothing is spent. The input is validated like that of the "+
			"creating operation. The cost depends on the request alone, so the estimate is exactly what is reserved. "+
			"Only a result that is far longer than reserved for is charged more.").Opening(httpapi.Nothing)
	estimate.Successor = &httpapi.Succession{Path: "/v1/balance/estimates", Operation: "createEstimate",
		Deprecated: time.Date(2026, time.December, 1, 0, 0, 0, 0, time.UTC),
		Sunset:     time.Date(2027, time.December, 1, 0, 0, 0, 0, time.UTC)}
	estimate.Errors = []errs.Code{errs.UnsupportedModel, errs.UnsupportedMedia, errs.ProviderUnavailable, errs.NotFound}
	httpapi.Write(r, estimate, s.estimate)
}

func (s *Service) estimate(ctx context.Context, _ *store.Tx, in *estimateInput) (out Estimate, err error) {
	b := in.Body
	if err := errs.All(b.fits(), check(b.Kind, b.Input.Input, "/input")); err != nil {
		return out, err
	}
	// A test key, too, gets the live price.
	o, err := s.order(ctx, auth.FromContext(ctx).Owner, b.Kind, b.Model, b.Input.Input, "/input", true, nil)
	if err != nil {
		return out, err
	}
	return Estimate{Kind: b.Kind, Model: o.model.ID, Credits: o.credits, Price: o.model.Price}, nil
}

// fits refuses members that the kind does not have, as the creating operation does.
func (b estimateBody) fits() error {
	var found []error
	for _, name := range b.Input.members {
		if !slices.Contains(members[b.Kind], name) {
			found = append(found, errs.Invalid("/input/"+name, "is not a member of kind %s; its members are %s", b.Kind,
				strings.Join(members[b.Kind], ", ")))
		}
	}
	return errs.All(found...)
}

// Estimates returns, by operation, the functions that price the bodies of the creating operations with a live key. A
// body is the member "body" of the request; places in errors begin below it.
func (s *Service) Estimates() map[string]func(ctx context.Context, body any) ([]int64, error) {
	return map[string]func(ctx context.Context, body any) ([]int64, error){
		"createVideo": price[videoBody](s), "createImage": price[imageBody](s), "createMusic": price[musicBody](s),
		"createVoice": price[voiceBody](s), "createAvatar": price[avatarBody](s),
	}
}

func price[B body](s *Service) func(ctx context.Context, body any) ([]int64, error) {
	return func(ctx context.Context, body any) ([]int64, error) {
		b, err := httpapi.Member[B]("body", body)
		if err != nil {
			return nil, err
		}
		kind, c, in := b.input()
		if err := errs.All(checkRehearsal(c.Sandbox, auth.FromContext(ctx).Mode), rules(b)); err != nil {
			return nil, err
		}
		owner, err := c.ProfileMember.Owner(ctx, &store.Tx{}, s.now())
		if err != nil {
			return nil, err
		}
		if c.ProfileID != "" { // no transaction checks that it exists
			_, err := resource.Find(ctx, s.db, id.Profile, profile.Kind, c.ProfileID)
			if errs.CodeOf(err) == errs.NotFound {
				err = errs.MissingAt("/profile_id", profile.Kind, c.ProfileID)
			}
			if err != nil {
				return nil, err
			}
		}
		o, err := s.order(ctx, owner, kind, c.Model, in, "", true, nil)
		return []int64{o.credits}, err
	}
}
