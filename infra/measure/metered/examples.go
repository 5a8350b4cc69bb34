package metered

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// firstTopic is the number of a topic that each plan has.
var firstTopic = "1"

// Examples returns an example of each operation.
func (w *World) Examples() map[string]Example {
	// The ids are read when they are needed, because none exist before the world is filled.
	of := func(id *string) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return *id, nil }
	}
	fresh := func(operation string) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) { return w.make(ctx, operation) }
	}
	// A webhook takes few of these calls a minute, so that each is made in a minute of its own, after another call.
	rare := func(ctx context.Context) (string, error) {
		w.Clock = w.Clock.Add(time.Minute)
		_, err := w.Call(ctx, Request{Operation: "getMe"})
		return w.webhook, err
	}
	// A factory has one training at a time, so that each training has a factory of its own.
	trained := func(ctx context.Context) (string, error) {
		id, err := w.trainable(ctx)
		if err != nil {
			return "", err
		}
		_, err = w.Call(ctx, Request{Operation: "startTraining", ID: id, Body: Object{}})
		return id, err
	}
	canceled := func(ctx context.Context) (string, error) {
		id, err := w.make(ctx, "createContentItem")
		if err != nil {
			return "", err
		}
		_, err = w.Call(ctx, Request{Operation: "cancelContentItem", ID: id})
		return id, err
	}
	attaching := func(ctx context.Context) (id string, err error) {
		w.social, err = w.make(ctx, "connectSocialAccount")
		return w.factory, err
	}
	attached := func(ctx context.Context) (id string, err error) {
		if id, err = attaching(ctx); err == nil {
			_, err = w.Call(ctx, Request{Operation: "attachSocialAccount", ID: id, Part: w.social})
		}
		return id, err
	}
	generated := func(ctx context.Context) (string, error) {
		id, err := w.make(ctx, "createContentItem")
		if err == nil {
			err = w.generate(ctx, id)
		}
		return id, err
	}
	approved := func(ctx context.Context) (Object, error) {
		id, err := generated(ctx)
		return Object{"action": "approve", "mode": "all", "content_item_ids": []string{id}}, err
	}
	scheduled := func(ctx context.Context) (string, error) {
		id, err := generated(ctx)
		if err == nil {
			_, err = w.Call(ctx, Request{Operation: "scheduleContentItem", ID: id,
				Body: w.Examples()["scheduleContentItem"].Body})
		}
		return id, err
	}
	proposing := func(ctx context.Context) (id string, err error) {
		if id, err = w.make(ctx, "createFactory"); err == nil {
			w.proposal, err = w.diagnose(ctx, id)
		}
		return id, err
	}
	rehearsal := func(ctx context.Context) (Object, error) {
		a, err := w.Call(ctx, Request{Operation: "createContentItems", Body: Object{"rehearse": true, "items": []Object{
			{"factory_id": w.factory, "kind": "post", "prompt": "Our new trail running shoe, made of recycled nets"}}}})
		if err != nil {
			return nil, err
		}
		var items []struct{ Rehearsal struct{ ID string } }
		err = json.Unmarshal(a.Data, &items)
		return Object{"rehearsal_id": items[0].Rehearsal.ID}, err
	}
	draft := func(ctx context.Context) (string, error) {
		_, id, err := w.drafted(ctx)
		return id, err
	}
	return map[string]Example{
		"getMe":              {},
		"getServiceLevels":   {},
		"listBalanceEntries": {Live: true},
		"getUsage":           {},
		"listAuditEntries":   {},
		"listEvents":         {},
		"resetSandbox":       {Body: Object{}},
		"advanceSandbox":     {Body: Object{"seconds": 3600}},
		"getEvent":           {ID: of(&w.event)},

		"listApiKeys": {},
		"createApiKey": {Undo: "revokeApiKey", Body: Object{
			"name": "CRM integration", "kind": "test", "scopes": []string{"content:read", "content:write"},
			"ip_allow_list": []string{"192.0.2.0/24"},
		}},
		"getApiKey":  {ID: of(&w.apiKey)},
		"listPeople": {},
		"invitePerson": {Undo: "removePerson", Make: func(context.Context) (Object, error) {
			w.invited++
			return Object{"email": fmt.Sprintf("ada.%d@example.com", w.invited), "name": "Ada Lovelace",
				"role": "developer"}, nil
		}},
		"updatePerson": {ID: of(&w.person), Body: Object{"role": "auditor"}},
		"removePerson": {ID: fresh("invitePerson")},

		"listProfiles":  {},
		"createProfile": {Undo: "deleteProfile", Body: Object{"name": "Harbour Coffee", "spend_limit_credits": 5000}},
		"getProfile":    {ID: of(&w.profile)},
		"updateProfile": {ID: of(&w.profile), Body: Object{"spend_limit_credits": 8000}},
		"deleteProfile": {ID: fresh("createProfile")},

		"updateApiKey": {ID: of(&w.apiKey), Body: Object{"name": "CRM integration, production"}},
		"revokeApiKey": {ID: fresh("createApiKey")},
		"rotateApiKey": {ID: of(&w.apiKey), Body: Object{"overlap_seconds": 0}},

		"listExports": {}, "listImports": {}, "listQuotes": {},
		"createQuote": {Make: rehearsal},
		"getQuote":    {ID: fresh("createQuote")},

		"listPlans":   {},
		"listModels":  {},
		"listAvatars": {},
		"listVoices":  {},

		"createExport": {Body: Object{"metadata": Object{"reason": "audit"}}},
		"getExport":    {ID: fresh("createExport")},
		"createImport": {Body: Object{"parts": []Object{{"url": "http://127.0.0.1:9/acme-lines-00001.jsonl",
			"sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}}}},
		"getImport": {ID: fresh("createImport")},

		"listFactories": {},
		"createFactory": {Body: Object{
			"type": "brand", "name": "Acme on social media", "language": "en", "tone": "warm and practical",
			"topics":   []string{"running shoes", "training"},
			"settings": Object{"brand_name": "Acme", "colors": []string{"#ff6600"}},
		}},
		"getFactory": {ID: of(&w.factory)},
		"getFactoryAnalytics": {ID: of(&w.factory),
			Query: map[string]string{"from": w.Clock.AddDate(0, 0, -1).Format(time.DateOnly), "group_by": "day,kind"}},
		"getBestTimes":       {Query: map[string]string{"factory_id": w.factory}},
		"importPosts":        {Body: Object{"social_account_id": w.pages}},
		"getPostImport":      {ID: fresh("importPosts")},
		"listAccountMetrics": {Query: map[string]string{"social_account_id": w.creator}},
		"updateFactory":      {ID: of(&w.factory), Body: Object{"tone": "dry and exact"}},
		"deleteFactory":      {ID: fresh("createFactory")},
		"createContentPlan": {ID: fresh("createFactory"), Body: Object{
			"days": 30, "posts_per_day": 2, "content_types": []string{"short_video", "post"},
			"brief": "The weeks before Christmas",
		}},
		"getContentPlan": {ID: of(&w.planned)},
		"createPlanTopic": {ID: w.proposed, Body: Object{"topic": "Why the left shoe wears out first",
			"publish_at": w.Now().AddDate(0, 0, 4), "content_type": "post", "angle": "a mistake that every second runner makes"}},
		"getPlanTopic": {ID: w.proposed, Part: &firstTopic},
		"updatePlanTopic": {ID: w.proposed, Part: &firstTopic,
			Body: Object{"topic": "Why the left shoe wears out first", "hook": "Look at your left heel"}},
		"deletePlanTopic":   {ID: w.proposed, Part: &firstTopic},
		"approvePlanTopics": {ID: w.proposed, Body: Object{"numbers": []int{1, 2, 3}}},

		"diagnoseFactory": {ID: fresh("createFactory"), Body: Object{"metadata": Object{"client": "4711"}}},
		"getDiagnosis":    {ID: of(&w.diagnosed)},
		"listProposals":   {ID: of(&w.diagnosed)},
		"applyProposal":   {ID: proposing, Part: &w.proposal},

		"startTraining": {ID: w.trainable,
			Body: Object{"base_model": "nova-lite", "metadata": Object{"campaign": "spring"}}},
		"getTraining": {ID: trained},

		"createChat":  {Body: Object{"factory_id": w.factory, "title": "Our autumn campaign"}},
		"getChat":     {ID: of(&w.chat)},
		"sendMessage": {ID: fresh("createChat"), Body: Object{"text": "Write a post about our new trail running shoe"}},
		"listDrafts":  {},
		"updateDraft": {ID: draft, Body: Object{
			"body": Object{"prompt": "Our new trail running shoe, made of recycled nets"}}},
		"applyDraft": {Undo: "deleteContentItem", ID: draft},

		"listContentItems": {},
		"createContentItem": {Undo: "deleteContentItem", Body: Object{
			"factory_id": w.factory, "kind": "post", "prompt": "Our new trail running shoe, made of recycled nets",
		}},
		"createContentItems": {Undo: "deleteContentItem", Body: Object{"items": []Object{
			{"factory_id": w.factory, "kind": "post", "prompt": "Our new trail running shoe, made of recycled nets"},
			{"factory_id": w.factory, "kind": "video", "prompt": "How a fishing net becomes a shoe", "scenes": []Object{
				{"text": "We pulled these nets out of the sea.", "visual": "Fishermen haul a torn net on board at dawn"},
				{"text": "Now they carry you up the hill."},
			}},
		}}},
		"getContentItem": {ID: of(&w.item)},
		"updateContentItem": {ID: of(&w.item), Body: Object{
			"title": "From a net to a shoe", "hashtags": []string{"trailrunning", "recycled", "oceanplastic"}}},
		"deleteContentItem": {ID: fresh("createContentItem")},
		"cancelContentItem": {ID: fresh("createContentItem")},
		"regenerateContentItem": {Undo: "deleteContentItem", ID: canceled,
			Body: Object{"prompt": "Our new trail running shoe, on a muddy path"}},
		"scheduleContentItem": {Undo: "deleteContentItem", ID: generated, Body: Object{
			"publish_at": w.Now().AddDate(0, 0, 7), "social_account_ids": []*string{&w.channel},
			"options": Object{"telegram": Object{"silent": true}},
		}},
		"publishContentItem": {ID: generated, Body: Object{"social_account_ids": []*string{&w.channel}}},
		"listPublications":   {ID: scheduled},

		"validatePublishing": {Body: Object{"item": Object{
			"factory_id": w.factory, "kind": "post", "source": "provided", "caption": "A shoe made of recycled nets.",
		}, "social_account_ids": []*string{&w.channel}}},
		"getCreatorInfo": {Query: map[string]string{"social_account_id": w.creator}},
		"listLookups": {Query: map[string]string{"social_account_id": w.pages, "kind": "location",
			"q": "Acme"}},
		"listSlots":             {Query: map[string]string{"factory_id": w.factory}},
		"listAllPublications":   {Query: map[string]string{"state": "pending,published"}},
		"getPublication":        {ID: w.posted},
		"getPublicationDossier": {ID: w.posted},
		"updatePublication":     {ID: w.posted, Body: Object{"caption": "A shoe made of recycled nets. Now in red."}},
		"deletePublication":     {ID: w.posted},
		"listComments":          {Query: map[string]string{"state": "visible"}},
		"replyToComment":        {ID: w.commented, Body: Object{"text": "Thank you! It is back in stock on Monday."}},
		"updateComment":         {ID: w.commented, Body: Object{"state": "hidden"}},
		"deleteComment":         {ID: w.commented},
		"approveContentItem":    {Undo: "deleteContentItem", ID: generated, Body: Object{"note": "Well done"}},
		"bulkPublishing":        {Make: approved},
		"requestChanges":        {Undo: "deleteContentItem", ID: generated, Body: Object{"note": "Name the price first."}},
		"listReviewLinks":       {},
		"createReviewLink": {Undo: "deleteReviewLink",
			Body: Object{"name": "Spring campaign", "content_item_ids": []*string{&w.item}, "may": "decide"}},
		"getReviewLink":    {ID: of(&w.link)},
		"deleteReviewLink": {ID: fresh("createReviewLink")},

		"listMedia": {},
		"createMedia": {Undo: "deleteMedia", Body: Object{
			"type": "image", "mime_type": "image/jpeg", "bytes": 482113,
			"sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		}},
		"getMedia":    {ID: of(&w.media)},
		"deleteMedia": {ID: fresh("createMedia")},

		"verifyProvenance": {Make: w.checked},

		"listProducts":  {},
		"createProduct": {Make: w.productBody, Undo: "deleteProduct"},
		"getProduct":    {ID: of(&w.product)},
		"updateProduct": {ID: of(&w.product), Body: Object{"price": Object{"amount": 11900}}},
		"deleteProduct": {ID: fresh("createProduct")},
		"addProductPhoto": {ID: of(&w.product), Undo: "deleteProductPhoto",
			Body: Object{"mime_type": "image/jpeg", "bytes": 482113,
				"sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}},
		"deleteProductPhoto": {ID: w.photographed, Part: &w.photo},

		"setFeed":      {ID: of(&w.seller), Body: feedBody},
		"getFeed":      {ID: w.fed},
		"deleteFeed":   {ID: w.fed},
		"syncFeed":     {ID: w.fed, Body: Object{}},
		"listFeedRuns": {ID: w.synced},
		"getFeedRun":   {ID: w.synced, Part: &w.feedRun},

		"listAutomations": {},
		"createAutomation": {Undo: "deleteAutomation", Body: Object{
			"factory_id": w.factory, "trigger": Object{"kind": "time", "cron": "30 9 * * 1-5"},
			"template":    Object{"kind": "post", "prompt": "A tip for runners, for {{date}}"},
			"max_per_day": 1,
		}},
		"getAutomation":    {ID: of(&w.automation)},
		"updateAutomation": {ID: of(&w.automation), Body: Object{"max_per_day": 2}},
		"deleteAutomation": {ID: fresh("createAutomation")},

		"listExperiments": {},
		"createExperiment": {Body: Object{
			"factory_id": &w.factory, "question": "Do questions in the first line bring more likes?",
			"factors": []Object{{"name": "hook", "arms": []string{"claim", "question"}}},
			"metric":  Object{"name": "likes", "platform": "instagram", "after_hours": 24},
			"budget":  Object{"posts": 200, "days": 90},
		}},
		"getExperiment":       {ID: of(&w.experiment)},
		"listExperimentPosts": {ID: of(&w.experiment)},
		"updateExperiment":    {ID: fresh("createExperiment"), Body: Object{"state": "running"}},
		"applyExperiment":     {ID: w.decided, Body: Object{"apply": false}},

		"listPromotions":  {},
		"createPromotion": {Make: w.promotionBody},
		"updatePromotion": {ID: of(&w.promotion), Body: Object{"message": "Only this week"}},

		"listPlatforms":      {},
		"listSocialAccounts": {},
		"connectSocialAccount": {Body: Object{
			"platform": "telegram", "bot_token": "123456789:EXAMPLE-EXAMPLE-EXAMPLE", "channel": "@acme_news",
			"late_after_seconds": 3600,
		}},
		"listTemplates": {},
		"createTemplate": {Undo: "deleteTemplate", Body: Object{"name": "Acme, spring", "theme": "minimal",
			"design": Object{"font": "lora", "band": "#0a7cff"}}},
		"getTemplate":     {ID: fresh("createTemplate")},
		"updateTemplate":  {ID: fresh("createTemplate"), Body: Object{"design": Object{"post": Object{"heading": 96}}}},
		"deleteTemplate":  {ID: fresh("createTemplate")},
		"previewTemplate": {Undo: "deleteTemplate", ID: fresh("createTemplate"), Body: Object{"kind": "story"}},

		"listApplications": {},
		"createApplication": {Body: Object{
			"platform": "youtube", "client_id": "1234-example.apps.googleusercontent.com",
			"client_secret": "EXAMPLE-EXAMPLE-EXAMPLE", "daily_limit": 400,
		}},
		"getApplication":    {ID: fresh("createApplication")},
		"updateApplication": {ID: fresh("createApplication"), Body: Object{"daily_limit": nil}},
		"deleteApplication": {ID: fresh("createApplication")},

		"getSocialAccount":        {ID: of(&w.social)},
		"disconnectSocialAccount": {ID: fresh("connectSocialAccount")},
		"attachSocialAccount":     {ID: attaching, Part: &w.social},
		"detachSocialAccount":     {ID: attached, Part: &w.social},

		"listIntegrations": {},
		"connectIntegration": {Body: Object{
			"kind": "bitrix24", "webhook_url": "https://acme.bitrix24.ru/rest/1/exampleexample/",
		}},
		"getIntegration": {ID: of(&w.integration)},
		"updateIntegration": {ID: of(&w.integration), Body: Object{"factory_id": &w.factory, "mapping": Object{
			"stages": []Object{{"pipeline": "sales", "stage": "won", "kind": "post",
				"template": "A case study: what the customer needed, and what we delivered"}},
		}}},
		"syncIntegration":       {ID: of(&w.integration)},
		"disconnectIntegration": {ID: fresh("connectIntegration")},

		"listWebhooks": {},
		"createWebhook": {Undo: "deleteWebhook", Body: Object{
			"url": "http://127.0.0.1:9/hooks/content", "event_types": []string{"content.*", "balance.low"},
			"description": "CRM",
		}},
		"getWebhook":    {ID: of(&w.webhook)},
		"updateWebhook": {ID: of(&w.webhook), Body: Object{"description": "CRM, production"}},
		"deleteWebhook": {ID: fresh("createWebhook")},

		"rotateWebhookSecret": {ID: of(&w.webhook)},
		"replayEvents":        {ID: rare, Body: Object{"since": w.Now().Add(-time.Hour).Format(time.RFC3339)}},
		"testWebhook":         {ID: rare, Body: Object{"event_type": "content.generated"}},
		"createVideo": {Undo: "deleteGeneration", Body: Object{"prompt": "A trail running shoe on wet rock",
			"aspect_ratio": "9:16"}},
		"createImage": {Undo: "deleteGeneration", Body: Object{"prompt": "A trail running shoe on wet rock",
			"aspect_ratio": "4:5"}},
		"createMusic": {Undo: "deleteGeneration", Body: Object{"prompt": "Calm piano over soft rain",
			"duration_seconds": 30}},
		"createVoice": {Undo: "deleteGeneration", Body: Object{"text": "Made of recycled nets.",
			"language": "en"}},
		"createAvatar": {Undo: "deleteGeneration", Body: Object{"text": "Made of recycled nets.",
			"image_url": "http://127.0.0.1:9/anna.jpg"}},
		"createEstimate": {Body: Object{"operation": "createImage",
			"body": Object{"prompt": "A trail running shoe on wet rock"}}},
		"estimateGeneration": {Body: Object{"kind": "image",
			"input": Object{"prompt": "A trail running shoe on wet rock"}}},
		"listGenerations":  {},
		"getGeneration":    {ID: of(&w.generation)},
		"deleteGeneration": {ID: fresh("createImage")},

		"listDeliveries": {ID: of(&w.webhook)},
		"getDelivery":    {ID: of(&w.webhook), Part: &w.delivery},
		"redeliver":      {ID: rare, Part: &w.delivery},
	}
}

// Prepare returns the call of an example.
func (w *World) Prepare(ctx context.Context, operation string) (r Request, err error) {
	e, known := w.Examples()[operation]
	if !known {
		return r, fmt.Errorf("%s has no example: add one to infra/measure/metered/examples.go", operation)
	}
	r = Request{Operation: operation, Body: e.Body, Query: e.Query, Live: e.Live}
	if e.ID != nil {
		if r.ID, err = e.ID(ctx); err != nil {
			return r, err
		}
	}
	if e.Part != nil {
		r.Part = *e.Part
	}
	if e.Make != nil {
		r.Body, err = e.Make(ctx)
	}
	return r, err
}

// Example is a call of an operation that succeeds each time.
type Example struct {
	// ID returns the id of the resource in the path. If the call uses the resource up, ID creates it.
	ID func(context.Context) (string, error)
	// Part is the id of a part of the resource, if the path names one.
	Part *string
	Body any
	// Make returns the body, if the call needs new resources for it.
	Make func(context.Context) (Object, error)
	// Query holds the parameters of the query.
	Query map[string]string
	// Live reports whether the call needs a live key, because the sandbox has nothing of the kind.
	Live bool
	// Undo is the operation that removes the created resource, if the number of such resources, or of those that
	// wait for their end, is limited.
	Undo string
}

// Object is a JSON object.
type Object map[string]any

// Try makes the call of an example, weighed if weigh is true, and removes the resource that it created.
func (w *World) Try(ctx context.Context, operation string, weigh bool) (Cost, error) {
	r, err := w.Prepare(ctx, operation)
	if err != nil {
		return Cost{}, err
	}
	w.Meter.Weigh = weigh
	a, err := w.Call(ctx, r)
	w.Meter.Weigh = false
	if e := w.Examples()[operation]; err == nil && e.Undo != "" {
		err = w.undo(ctx, e, r.ID, a.Data)
	}
	return a.Cost, err
}

// undo removes the resource that an example has created, which may be a part of another.
func (w *World) undo(ctx context.Context, e Example, of string, data json.RawMessage) error {
	all := []json.RawMessage{data}
	if len(data) > 0 && data[0] == '[' {
		if err := json.Unmarshal(data, &all); err != nil {
			return err
		}
	}
	for _, one := range all {
		made, err := Answer{Data: one}.ID()
		if err != nil {
			return err
		}
		var led struct {
			To string `json:"result_id"`
		}
		if err := json.Unmarshal(one, &led); err != nil {
			return err
		}
		if led.To != "" {
			made = led.To
		}
		r := Request{Operation: e.Undo, ID: made}
		if strings.Count(w.Routes[e.Undo].Path, "{") > 1 {
			r.ID, r.Part = of, made
		}
		if _, err := w.Call(ctx, r); err != nil {
			return err
		}
	}
	return nil
}
