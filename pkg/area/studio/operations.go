package studio

import (
	"cmp"
	"context"
	"math"
	"net/http"

	"golang.org/x/text/language"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

type createInput[B body] struct {
	Body B
	// heard is the recording of the call, read by an earlier run of the operation.
	heard *recording
}

// Path names the generation of a call.
type Path struct {
	// Id of the generation.
	ID string `path:"generation_id" example:"gen_01h455vb4pex5vsknk084sn02q"`
}

type deleteInput struct {
	Path
	httpapi.IfMatch
}

type listInput struct {
	httpapi.PageInput
	resource.Tagged
	profile.Filter
	httpapi.Period
	// Only generations of these kinds, separated by commas.
	Kind []string `query:"kind" enum:"video,image,music,voice,avatar" nullable:"false"`
	// Only generations in these states, separated by commas.
	State []string `query:"state" enum:"queued,generating,generated,failed,canceled" nullable:"false"`
	// Only generations of this model.
	Model string `query:"model"`
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

	list := op("listGenerations", http.MethodGet, "/v1/studio/generations", "List the generations", "Newest first.").
		Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)
	const one = "/v1/studio/generations/{generation_id}"
	httpapi.Read(r, op("getGeneration", http.MethodGet, one, "Get a generation",
		"The URLs of its media are signed anew.").Opening(httpapi.Nothing), s.get)
	remove := op("deleteGeneration", http.MethodDelete, one, "Cancel or delete a generation",
		"Cancels a generation that is queued or being generated: what the provider has completed is charged, and the "+
			"rest of the reserved credits is released at once. It stays in the list, in state `canceled`; no event "+
			"is sent. Deletes a generation that has ended, with its media; the response shows it in its last state.").
		Opening(httpapi.Deletion)
	remove.Errors = []errs.Code{errs.VersionMismatch}
	httpapi.Write(r, remove, s.remove)
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
		return s.create(ctx, tx, in.Body, &in.heard)
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
		if req.Spoken = given.spoken(); req.Spoken == 0 {
			if o.speech == nil {
				if o.speech, err = s.record(ctx, in.AudioURL, prefix+"/audio_url"); err != nil {
					return order{}, err
				}
			}
			req.Spoken = o.speech.Duration
		}
		in.Seconds = int(math.Ceil(req.Spoken.Seconds()))
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
	kind, c, in := b.asked()
	p, now := auth.FromContext(ctx), s.now()
	live := p.Mode == tenant.Live
	if err := errs.All(checkRehearsal(c.Sandbox, p.Mode), rules(b)); err != nil {
		return out, err
	}
	owner, err := c.Given.Owner(ctx, tx, now)
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
		Sandbox: c.Sandbox, Given: o.files.media,
	}
	if err := o.files.Use(tx, now); err != nil {
		return out, err
	}
	if o.speech != nil && live {
		file, err := s.signer.KeepInput(ctx, owner, o.speech.Ext, o.speech.file(), o.speech.content)
		if err != nil {
			return out, err
		}
		r.Given[AudioMember] = file
	}
	resource.Makes(ctx, resource.Concern{Kind: string(kind)})
	a := generate.Order{
		Owner: owner, Subject: r.ID, Attempt: Attempt, About: r.About(),
		Makes: "generation." + string(kind),
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

func (s *Service) list(ctx context.Context, in *listInput) (httpapi.Page[Generation], error) {
	q, err := httpapi.Owned(ctx, ItemKind, id.Generation, in.Period,
		in.Filter.Into(map[string]string{"kind": httpapi.AnyOf(in.Kind), "state": httpapi.AnyOf(in.State),
			"model": in.Model}))
	if err != nil {
		return httpapi.Page[Generation]{}, err
	}
	in.Tagged.Into(&q)
	return httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (Generation, error) {
		r, err := Decode(&it)
		if err != nil {
			return Generation{}, err
		}
		return r.View(ctx, s.signer)
	})
}

func (s *Service) get(ctx context.Context, in *Path) (Generation, error) {
	r, _, err := s.find(ctx, in.ID)
	if err != nil {
		return Generation{}, err
	}
	return r.View(ctx, s.signer)
}

// remove cancels a generation that runs, and deletes one that has ended. The answer of
// the latter shows it in its last state, without the media.
func (s *Service) remove(ctx context.Context, tx *store.Tx, in *deleteInput) (out Generation, err error) {
	it, beside, err := resource.FindWith(ctx, s.db, id.Generation, "generation", in.ID,
		generate.TaskKey(in.ID, Attempt))
	if err != nil {
		return out, err
	}
	r, err := Decode(&it)
	if err != nil {
		return out, err
	}
	if err := in.Check(r.Version); err != nil {
		return out, err
	}
	now := s.now()
	r.Touch(now)
	if r.Runs() {
		if r.CostCredits, _, err = generate.Cancel(tx, now, it.Owner, &r.Ticket, beside[0]); err != nil {
			return out, err
		}
		r.State, r.Ticket = Canceled, generate.Ticket{}
		if it, err = r.Into(it); err != nil {
			return out, err
		}
		tx.Replace(it)
		return r.View(ctx, s.signer)
	}
	tx.Delete(it)
	r.Media = []media.View{}
	return r.Generation, generate.RemoveFiles(tx, now, it.Owner, r.ID, Attempt)
}
