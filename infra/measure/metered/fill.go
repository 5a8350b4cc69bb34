package metered

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/instagram"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/engagement"
	"github.com/content-automation/api/pkg/area/feed"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// dispatch creates the deliveries of the events to the webhooks, and makes those of a page of one webhook.
func (w *World) dispatch(ctx context.Context, state *store.DB) error {
	var happened []event.Event
	// The webhooks receive no others.
	if err := w.list(ctx, Request{Operation: "listEvents", Query: map[string]string{"type": "content.*"}},
		&happened); err != nil {
		return err
	}
	var batch events.SQSEvent
	for _, e := range happened {
		body, err := json.Marshal(map[string]any{"detail": event.Ref{ID: e.ID, Type: e.Type,
			Owner: tenant.Of(e.AccountID, e.Mode).Of(tenant.Profile(w.Profile))}})
		if err != nil {
			return err
		}
		batch.Records = append(batch.Records, events.SQSMessage{MessageId: e.ID, Body: string(body)})
	}
	out, err := webhook.NewDispatcher(state, w.Now).Handle(ctx, batch)
	if err != nil || len(out.BatchItemFailures) > 0 {
		return fmt.Errorf("%d events were not dispatched: %w", len(out.BatchItemFailures), err)
	}
	var made []webhook.Delivery
	if err := w.list(ctx, Request{Operation: "listDeliveries", ID: w.webhook}, &made); err != nil {
		return err
	}
	w.event, w.delivery = happened[0].ID, made[0].ID
	kernel := w.Kernel(w.Workers)
	for _, d := range made {
		if err := w.steps(ctx, kernel, task.ID(webhook.DeliverKind, d.ID, 0)); err != nil {
			return err
		}
	}
	return nil
}

// list reads a list that must not be empty.
func (w *World) list(ctx context.Context, r Request, into any) error {
	a, err := w.Call(ctx, r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(a.Data, into); err != nil || string(a.Data) == "[]" {
		return fmt.Errorf("%s returns no resource: %s: %w", r.Operation, strconv.Quote(string(a.Data)), err)
	}
	return nil
}

// make carries out an operation that creates a resource, and returns the id of the resource.
func (w *World) make(ctx context.Context, operation string) (string, error) {
	r, err := w.Prepare(ctx, operation)
	if err != nil {
		return "", err
	}
	made, err := w.Call(ctx, r)
	if err != nil {
		return "", err
	}
	return made.ID()
}

// creation is an operation that creates a resource, and the place of its id.
type creation struct {
	operation string
	id        *string
}

// makeAll makes resources in their order.
func (w *World) makeAll(ctx context.Context, all ...creation) (err error) {
	for _, m := range all {
		if *m.id, err = w.make(ctx, m.operation); err != nil {
			return err
		}
	}
	return nil
}

// connect connects a channel, or returns its account if it is already connected.
func (w *World) connect(ctx context.Context, channel string) (string, error) {
	a, err := w.Call(ctx, Request{Operation: "connectSocialAccount",
		Body: Object{"platform": "telegram", "bot_token": "123456789:EXAMPLE-EXAMPLE-EXAMPLE", "channel": channel}})
	if err != nil {
		return "", err
	}
	return a.ID()
}

// generate takes all steps of the work of an item.
func (w *World) generate(ctx context.Context, itemID string) error {
	return w.steps(ctx, w.Kernel(w.Workers), task.ID(generate.Generate, itemID, 1))
}

// diagnose creates a diagnosis of a factory, and returns the id of one of its proposals.
func (w *World) diagnose(ctx context.Context, factoryID string) (proposalID string, err error) {
	started, err := w.Call(ctx, Request{Operation: "diagnoseFactory", ID: factoryID})
	if err != nil {
		return "", err
	}
	diagnosisID, err := started.ID()
	if err != nil {
		return "", err
	}
	if err := w.steps(ctx, w.Kernel(w.Workers), task.ID(advice.TaskKind, diagnosisID, 1)); err != nil {
		return "", err
	}
	a, err := w.Call(ctx, Request{Operation: "getDiagnosis", ID: factoryID})
	if err != nil {
		return "", err
	}
	var d advice.Diagnosis
	if err := json.Unmarshal(a.Data, &d); err != nil || len(d.ProposalIDs) == 0 {
		return "", fmt.Errorf("no proposals: %s: %w", a.Data, err)
	}
	return d.ProposalIDs[0], nil
}

// steps takes all steps of a task.
func (w *World) steps(ctx context.Context, kernel *task.Kernel, taskID string) error {
	m := task.Message{ID: taskID, Step: 1}
	for {
		next, err := kernel.Do(ctx, m, "")
		if err != nil || next == nil {
			return err
		}
		m = next.Message
	}
}

// roll counts an item in the analytics, as the relay does.
func (w *World) roll(ctx context.Context, itemID string) error {
	it, err := w.State.Get(ctx, store.IDKey(itemID))
	if err != nil {
		return err
	}
	m, ok, err := analytics.Message(it)
	if err != nil || !ok {
		return errors.Join(fmt.Errorf("%s contributes nothing", itemID), err)
	}
	return errors.Join(analytics.New(w.State).Count(ctx, []events.SQSMessage{{MessageId: itemID, Body: m.Body}})...)
}

// Kernel returns a kernel that takes the steps of generations, diagnoses and deliveries.
func (w *World) Kernel(e worker.Env) *task.Kernel {
	handlers := worker.Handlers{}
	for _, name := range []string{"generate", "diagnose", "deliver"} {
		maps.Copy(handlers, worker.Named(name).Tasks(e))
	}
	return worker.Kernel(w.State, handlers, w.Now)
}

// seller is the body of a factory that has products.
var seller = Object{"type": "seller", "name": "Acme shop", "settings": Object{"currency": "EUR", "shop_name": "Acme"}}

// Seller creates a factory that has products.
func (w *World) Seller(ctx context.Context, key string) (string, error) {
	made, err := w.Call(ctx, Request{Operation: "createFactory", Key: key, Body: seller})
	if err != nil {
		return "", err
	}
	return made.ID()
}

// productBody returns the body of a product. Each body has a different SKU.
func (w *World) productBody(context.Context) (Object, error) {
	w.products++
	return Object{
		"factory_id": w.seller, "sku": fmt.Sprintf("TRAIL-%d", 40+w.products), "name": "Trail running shoe",
		"description": "Made of recycled nets, for wet rock",
		"price":       Object{"amount": 12900, "currency": "EUR"}, "url": "https://shop.example.com/trail",
		"attributes": Object{"color": "red"},
	}, nil
}

// promotionBody returns the body of a promotion with a new product, because a product can be in only a few
// promotions at a time.
func (w *World) promotionBody(ctx context.Context) (Object, error) {
	product, err := w.make(ctx, "createProduct")
	return Object{
		"factory_id": w.seller, "product_ids": []string{product}, "name": "Autumn sale",
		"discount": Object{"kind": "percent", "value": 20},
		"ends_at":  w.Clock.Truncate(time.Second).AddDate(0, 0, 14).Format(time.RFC3339),
		"message":  "Only while stocks last",
	}, err
}

// photographed creates a product with a photo, and keeps the id of the photo.
func (w *World) photographed(ctx context.Context) (product string, err error) {
	if product, err = w.make(ctx, "createProduct"); err != nil {
		return "", err
	}
	added, err := w.Call(ctx, Request{Operation: "addProductPhoto", ID: product,
		Body: w.Examples()["addProductPhoto"].Body})
	if err != nil {
		return "", err
	}
	w.photo, err = added.ID()
	return product, err
}

// feedBody is that of a feed that nobody fetches.
var feedBody = Object{"source": Object{"url": "http://127.0.0.1:9/google.xml"}, "format": "google_xml",
	"on_sold_out": "hold"}

// fed creates a factory with a feed.
func (w *World) fed(ctx context.Context) (factory string, err error) {
	if factory, err = w.Seller(ctx, ""); err == nil {
		_, err = w.Call(ctx, Request{Operation: "setFeed", ID: factory, Body: feedBody})
	}
	return factory, err
}

// synced creates a factory with a run of its feed, and keeps the id of the run.
func (w *World) synced(ctx context.Context) (factory string, err error) {
	if factory, err = w.fed(ctx); err != nil {
		return "", err
	}
	run, err := w.Call(ctx, Request{Operation: "syncFeed", ID: factory, Body: Object{}})
	if err != nil {
		return "", err
	}
	w.feedRun, err = run.ID()
	return factory, err
}

// Feed is the usage of the runs of the feed of a shop.
type Feed struct {
	// First is the usage of the run that creates all products, and Daily that of the next one, in which 1 % of the rows
	// have another price.
	First, Daily Used
	// Fetched is the size of the feed.
	Fetched int64
}

// shop is the server of the feed of a shop, and its files in memory.
type shop struct {
	described
	rows, day int
	files     map[string][]byte
}

// feed returns the feed of the day.
func (s *shop) feed() []byte {
	var b bytes.Buffer
	b.WriteString("sku,name,description,price,color,photo\n")
	for i := range s.rows {
		price := 100 + i
		if i%100 == 0 {
			price += s.day
		}
		fmt.Fprintf(&b, "S-%06d,Trail running shoe %d,%s,%d EUR,red,\n", i, i, "Made of recycled nets.", price)
	}
	return b.Bytes()
}

// Do implements the client of feeds.
func (s *shop) Do(*http.Request) (*http.Response, error) {
	body := io.NopCloser(bytes.NewReader(s.feed()))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body}, nil
}

// Open implements worker.Files.
func (s *shop) Open(_ context.Context, key string) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(s.files[key])), nil
}

// Put implements worker.Files.
func (s *shop) Put(_ context.Context, f media.File, content io.ReadSeeker) error {
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	data, err := io.ReadAll(content)
	s.files[f.Key] = data
	return err
}

// Feed lets the catalog of a new factory follow a feed of some rows, on two days.
func (w *World) Feed(ctx context.Context, rows int) (f Feed, err error) {
	factory, err := w.fed(ctx)
	if err != nil {
		return f, err
	}
	s := &shop{rows: rows, files: map[string][]byte{}}
	body := Object{"source": feedBody["source"], "format": "csv"}
	if _, err := w.Call(ctx, Request{Operation: "setFeed", ID: factory, Body: body}); err != nil {
		return f, err
	}
	env := w.Workers
	env.Files, env.Uploads = s, s
	kernel := worker.Kernel(w.State, worker.Named("sync-feed").Tasks(env), w.Now)
	for _, used := range []*Used{&f.First, &f.Daily} {
		made, err := w.Call(ctx, Request{Operation: "syncFeed", ID: factory, Body: Object{}})
		if err != nil {
			return f, err
		}
		run, err := made.ID()
		if err != nil {
			return f, err
		}
		work := func() error { return w.steps(ctx, kernel, task.ID(feed.RunKind, run, 1)) }
		if err := w.weigh(used, work); err != nil {
			return f, err
		}
		ended, err := w.Call(ctx, Request{Operation: "getFeed", ID: factory})
		if err != nil {
			return f, err
		}
		var got feed.Feed
		if err := json.Unmarshal(ended.Data, &got); err != nil {
			return f, err
		}
		changed := rows
		if s.day > 0 {
			changed /= 100
		}
		if got.LastRun == nil || got.LastRun.Created+got.LastRun.Changed != changed {
			return f, fmt.Errorf("the run is not right: %s", ended.Data)
		}
		s.day++
	}
	f.Fetched = int64(len(s.feed()))
	return f, nil
}

// posted schedules an item, and returns the id of its publication, as if its platform had taken it.
func (w *World) posted(ctx context.Context) (publicationID string, err error) {
	itemID, err := w.Examples()["publishContentItem"].ID(ctx)
	if err != nil {
		return "", err
	}
	a, err := w.Call(ctx, Request{Operation: "scheduleContentItem", ID: itemID,
		Body: w.Examples()["scheduleContentItem"].Body})
	if err != nil {
		return "", err
	}
	var made struct{ Publications []struct{ ID string } }
	if err := json.Unmarshal(a.Data, &made); err != nil {
		return "", err
	}
	if len(made.Publications) == 0 { // such as that of a factory that requires approval
		return "", fmt.Errorf("metered: %s is scheduled for no account", itemID)
	}
	under, err := w.State.Under(ctx, itemID)
	if err != nil || len(under) == 0 {
		return "", fmt.Errorf("metered: %s is gone: %w", itemID, err)
	}
	it := under[0]
	r, err := item.Of(under)
	if err != nil {
		return "", err
	}
	at, post := resource.Instant(w.Now()), "42"
	for i := range r.Item.Publications {
		pub := &r.Item.Publications[i]
		pub.State, pub.PublishedAt, pub.PlatformPostID = item.PublicationPublished, &at, &post
		pub.Posted = &item.Preview{Platform: pub.Platform, Hashtags: []string{}, MediaIDs: []string{},
			Counts: []item.Count{}}
	}
	tx := &store.Tx{}
	for i := range r.Item.Publications {
		pub, proof := &r.Item.Publications[i], publication.Proof{}
		for _, f := range r.Words(pub.Platform, pub.SocialAccountID).Files {
			proof.Files = append(proof.Files, publication.DossierFile{ID: f.ID, MIMEType: f.MIMEType, Bytes: f.Bytes,
				SHA256: f.SHA256})
		}
		if _, err := publication.KeepDossier(tx, w.Now(), it.Owner, r, pub, nil, proof); err != nil {
			return "", err
		}
	}
	if err := item.Replace(tx, it, r); err != nil {
		return "", err
	}
	return made.Publications[0].ID, w.State.Commit(ctx, tx)
}

// commented returns the id of a comment, as if its platform had shown it.
func (w *World) commented(ctx context.Context) (commentID string, err error) {
	like, err := w.State.Get(ctx, store.IDKey(w.creator))
	if err != nil {
		return "", err
	}
	now := w.Now()
	r := &engagement.Record{Remote: "7", Comment: engagement.Comment{
		Resource: resource.New(id.New(id.Comment, now), now, nil), PublicationID: id.New(id.Publication, now),
		ContentItemID: id.New(id.ContentItem, now), FactoryID: w.factory, SocialAccountID: w.creator,
		Platform: instagram.Name, State: engagement.Visible, Text: "Does it come in other colors?",
		Author: engagement.Author{Handle: "@reader", Name: "A reader"}}}
	it, err := r.Entry(now, like.Owner)
	if err != nil {
		return "", err
	}
	tx := &store.Tx{}
	tx.Create(it, nil)
	return r.ID, w.State.Commit(ctx, tx)
}

// connectCreator connects an account of a platform, as if its owner had granted access.
func (w *World) connectCreator(ctx context.Context, state *store.DB, name string) (string, error) {
	like, err := state.Get(ctx, store.IDKey(w.channel))
	if err != nil {
		return "", err
	}
	now := w.Now()
	r := &social.Record{PlatformID: "creator", Account: social.Account{
		Resource: resource.New(social.NewID(now), now, nil), Platform: name, Handle: "acme",
		FactoryIDs: []string{}}}
	vault := social.Vault{Envelope: sealtest.Envelope(stackKey)}
	token := platform.Token{Access: "token"}
	if r.SealedAccount, err = vault.Seal(ctx, like.Owner, r.ID, platform.Account{ID: r.PlatformID, Handle: "acme", Name: "Acme",
		Token: token}); err != nil {
		return "", err
	}
	it, err := r.Item(like.Owner)
	if err != nil {
		return "", err
	}
	tx := &store.Tx{}
	if err := r.Connect(tx, now, it, token); err != nil {
		return "", err
	}
	return r.ID, state.Commit(ctx, tx)
}

// proposed creates a factory with a content plan whose topics wait for an approval.
func (w *World) proposed(ctx context.Context) (factoryID string, err error) {
	if factoryID, err = w.make(ctx, "createFactory"); err != nil {
		return "", err
	}
	_, err = w.propose(ctx, factoryID, Object{"days": 10, "posts_per_day": 1, "content_types": []string{"post"},
		"brief": "The weeks before Christmas"})
	return factoryID, err
}

// propose creates a content plan for a factory whose topics wait for an approval, and returns it with them.
func (w *World) propose(ctx context.Context, factoryID string, body Object) (p plan.Plan, err error) {
	sent := Object{"approve": "topics"}
	maps.Copy(sent, body)
	a, err := w.Call(ctx, Request{Operation: "createContentPlan", ID: factoryID, Body: sent})
	if err := errors.Join(err, json.Unmarshal(a.Data, &p)); err != nil {
		return p, err
	}
	kernel, m := w.Kernel(w.Workers), task.Message{ID: task.ID(plan.Task, p.ID, 1), Step: 1}
	for {
		next, err := kernel.Do(ctx, m, "")
		if err != nil {
			return p, err
		}
		if next == nil || next.Delay > 0 { // it waits for the approval
			break
		}
		m = next.Message
	}
	a, err = w.Call(ctx, Request{Operation: "getContentPlan", ID: factoryID})
	return p, errors.Join(err, json.Unmarshal(a.Data, &p))
}

// trainable creates a factory that has enough content for a training: copies of a generated item, which only the
// factory lists.
func (w *World) trainable(ctx context.Context) (string, error) {
	factory, err := w.make(ctx, "createFactory")
	if err != nil {
		return "", err
	}
	it, err := w.State.Get(ctx, store.IDKey(w.item))
	if err != nil {
		return "", err
	}
	r, err := item.Decode(&it)
	if err != nil {
		return "", err
	}
	// Random ids change the size of a compressed document by some bytes. With this text, 50 documents are far from a
	// read unit more or less, so that each run takes the same number.
	r.Item.Prompt += " x7Kq2Zp9Lm4Tn8Wv3Rb6Yc1Hd5Gf0JsAeUiQoPzXkVlB"
	tx := &store.Tx{}
	for range training.MinSamples {
		r.Item.ID, r.Item.FactoryID = id.New(id.ContentItem, w.Now()), factory
		copied, err := r.Entry(it.Owner)
		if err != nil {
			return "", err
		}
		copied.ListKey = store.Key{}
		tx.Create(copied, nil)
	}
	return factory, w.State.Commit(ctx, tx)
}

// decided makes an experiment that has a winner, and returns its id. Its results are written as a look leaves them,
// since the sandbox has too few posts.
func (w *World) decided(ctx context.Context) (string, error) {
	id, err := w.make(ctx, "createExperiment")
	if err != nil {
		return "", err
	}
	it, err := w.State.Get(ctx, store.IDKey(id))
	if err != nil {
		return "", err
	}
	r, err := experiment.Decode(&it)
	if err != nil {
		return "", err
	}
	at, estimate, lower, upper := resource.Instant(w.Now()), 0.16, 0.03, 0.28
	r.State, r.StartedAt, r.EndedAt, r.Posts = experiment.Decided, &at, &at, 120
	r.Winners = []experiment.Winner{{Factor: experiment.FactorHook, Arm: "question"}}
	first, second := 0.027, 0.041
	r.Results = []experiment.Result{
		{Factor: experiment.FactorHook, Arm: "claim", Assigned: 59, N: 58, Median: &first},
		{Factor: experiment.FactorHook, Arm: "question", Assigned: 61, N: 60, Median: &second, Estimate: &estimate,
			Lower: &lower, Upper: &upper},
	}
	if it, err = r.Into(it); err != nil {
		return "", err
	}
	tx := &store.Tx{}
	tx.Replace(it)
	return id, w.State.Commit(ctx, tx)
}

// drafted has the architect create a draft in a chat of its own.
func (w *World) drafted(ctx context.Context) (chatID, draftID string, err error) {
	if chatID, err = w.make(ctx, "createChat"); err != nil {
		return "", "", err
	}
	replied, err := w.Call(ctx, Request{Operation: "sendMessage", ID: chatID, Body: w.Examples()["sendMessage"].Body})
	if err != nil {
		return "", "", err
	}
	var reply struct {
		DraftIDs []string `json:"draft_ids"`
	}
	if err := json.Unmarshal(replied.Data, &reply); err != nil || len(reply.DraftIDs) != 1 {
		return "", "", fmt.Errorf("no draft: %s: %w", replied.Data, err)
	}
	return chatID, reply.DraftIDs[0], nil
}

// checked returns the body that asks for the origin of a media, which is a copy of a finished file.
func (w *World) checked(ctx context.Context) (Object, error) {
	mediaID, err := w.make(ctx, "createMedia")
	if err != nil {
		return nil, err
	}
	it, err := w.State.Get(ctx, store.IDKey(mediaID))
	if err != nil {
		return nil, err
	}
	r, err := incoming.Decode(&it)
	if err != nil {
		return nil, err
	}
	f := media.File{ID: mediaID, Type: media.Image, MIMEType: "image/jpeg", Key: "media/a", Width: 1080, Height: 1350,
		Bytes: r.Bytes, SHA256: r.SHA256, Inspection: &provenance.Inspection{
			Statement: provenance.Statement{Source: provenance.Generated, Credit: "Acme", Systems: "FLUX 1.1 [pro]"},
			Report: provenance.Report{Signature: provenance.Valid, Signer: "Acme GmbH", Generator: "Content Automation",
				Signed: provenance.Generated, Facts: []provenance.Fact{{Kind: "action", Name: "c2pa.created",
					By: "FLUX 1.1 [pro]", Source: provenance.Generated}, {Kind: "model", Name: "FLUX 1.1 [pro]"}}},
			SHA256: r.SHA256}}
	tx := &store.Tx{}
	w.checks++
	if err := errors.Join(incoming.Settle(tx, w.Now(), it, r, &f, nil), generate.Register(tx, it.Owner,
		[]generate.Entry{{Subject: w.item, File: fmt.Sprintf("%s_1_%d", w.item, w.checks), SHA256: r.SHA256,
			Models: []string{"FLUX 1.1 [pro]"}, GeneratedAt: resource.Instant(w.Now())}})); err != nil {
		return nil, err
	}
	return Object{"media_id": mediaID}, w.State.Commit(ctx, tx)
}
