package mcp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata"

	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/errs"
)

type planIn struct {
	orderIn
	FactoryID    string   `json:"factory_id"`
	Days         int      `json:"days,omitempty"`
	PostsPerDay  int      `json:"posts_per_day,omitempty"`
	ContentTypes []string `json:"content_types,omitempty"`
	StartsOn     string   `json:"starts_on,omitempty"`
	Brief        string   `json:"brief,omitempty"`
	Approve      string   `json:"approve,omitempty"`
	ProductIDs   []string `json:"product_ids,omitempty"`
}

var planTexts = map[string]string{
	"days": "default 7", "posts_per_day": "1 to 10; default 1",
	"starts_on": "first day, 2027-01-15; default: tomorrow", "brief": "what the plan is about",
}

type productIn struct {
	orderIn
	FactoryID   string `json:"factory_id"`
	SKU         string `json:"sku"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	Amount      *int64 `json:"amount,omitempty"`
	Currency    string `json:"currency,omitempty"`
	URL         string `json:"url,omitempty"`
}

var productTexts = map[string]string{
	"factory_id": "fac_… of type seller", "sku": "its number", "name": "needed if it is new", "description": "facts",
	"amount": "price in cents; needs currency", "url": "page where it is sold",
}

type estimateIn struct {
	Operation     string         `json:"operation"`
	Body          map[string]any `json:"body"`
	FactoryID     string         `json:"factory_id,omitempty"`
	ContentItemID string         `json:"content_item_id,omitempty"`
}

var estimateTexts = map[string]string{
	"factory_id": "fac_…, for plans and training", "content_item_id": "cnt_…, for regenerateContentItem",
}

type studioIn struct {
	orderIn
	waitIn
	Kind        string `json:"kind"`
	Prompt      string `json:"prompt,omitempty"`
	Text        string `json:"text,omitempty"`
	Model       string `json:"model,omitempty"`
	AspectRatio string `json:"aspect_ratio,omitempty"`
	Seconds     int    `json:"duration_seconds,omitempty"`
	Language    string `json:"language,omitempty"`
	Voice       string `json:"voice,omitempty"`
	ImageURL    string `json:"image_url,omitempty"`
}

var studioTexts = map[string]string{
	"prompt": "what to make: image, video, music", "text": "text to speak: voice, avatar",
	"aspect_ratio": "such as 9:16", "duration_seconds": "of a video or music",
	"language": "BCP 47", "voice": "id from listVoices",
	"image_url": "public https URL or med_… to start from",
}

// studioOperations are the operations of the studio by kind: the last part of the path, and the id.
var studioOperations = map[string][2]string{
	"image": {"images", "createImage"}, "video": {"videos", "createVideo"}, "music": {"music", "createMusic"},
	"voice": {"voices", "createVoice"}, "avatar": {"avatars", "createAvatar"},
}

func (s *server) addOrders() {
	add(s, tool[planIn]{name: "plan_week", scope: "factories:write", effect: publishes,
		doc: "Plan the content of 1 to 90 days, for credits. approve: topics waits for " +
			"approvePlanTopics. auto_publish publishes it.",
		values: map[string][]any{"content_types": {"post", "video", "carousel", "story", "music_clip", "short_video",
			"long_video"},
			"approve": {"none", "topics"}},
		texts: planTexts, out: []string{"id", "state", "items{}"}, run: plan})
	add(s, tool[productIn]{name: "save_product", scope: "products:write", effect: changes,
		doc: "Create a product of a seller factory, or change the one with the same sku.", texts: productTexts,
		out: []string{"id", "state"}, run: saveProduct})
	add(s, tool[uploadIn]{name: "upload_media", scope: "content:write", effect: adds,
		doc:   "Bring in a file: by its address, or by a signed one to which you send it.",
		texts: uploadTexts, out: []string{"id", "state", "upload{}"}, run: upload})
	add(s, tool[estimateIn]{name: "estimate", scope: "account:read",
		doc: "The price of an operation in credits.",
		values: map[string][]any{"operation": {"createContentItem", "createContentItems", "regenerateContentItem",
			"createContentPlan", "createImage", "createVideo", "createMusic", "createVoice", "createAvatar",
			"startTraining"}}, texts: estimateTexts, out: []string{"credits#"}, run: estimate})
	add(s, tool[studioIn]{name: "studio_generate", scope: "studio:use", effect: adds,
		doc: "Generate an image, video, music, voice or avatar for credits, and wait. Read it later by " +
			"getGeneration.",
		values: map[string][]any{"kind": {"image", "video", "music", "voice", "avatar"}}, texts: studioTexts,
		out: []string{"id", "state", "media[]"}, run: studio})
}

func plan(ctx context.Context, c call, in planIn) (toolResult, error) {
	body := pick(in, "content_types", "starts_on", "brief", "product_ids", "approve")
	body["days"], body["posts_per_day"] = max(in.Days, 0), max(in.PostsPerDay, 0)
	if in.Days == 0 {
		body["days"] = 7
	}
	if in.PostsPerDay == 0 {
		body["posts_per_day"] = 1
	}
	ask, err := c.asks(in.Confirmation)
	if err != nil {
		return toolResult{}, err
	}
	if ask {
		text, err := c.outlook(ctx, in.FactoryID, "")
		if err != nil {
			return toolResult{}, err
		}
		return c.price(ctx, "createContentPlan", object{"factory_id": in.FactoryID, "body": body},
			"A content plan."+text)
	}
	a, err := c.caller.call(ctx, http.MethodPost, pathOf("factories", in.FactoryID, "content-plan"), body, c.key)
	data, err := into[object](a, err)
	delete(data, "calendar") // list_content shows the items with their times
	if data["approve"] == "topics" {
		return toolResult{text: a.note() + "The plan is accepted. Its topics wait for an approval: getContentPlan " +
			"shows them, and approvePlanTopics approves them.", data: data}, err
	}
	return toolResult{text: a.note() + "The plan is accepted. Its items are made in the background: list_content " +
		"with its content_plan_id shows them.", data: data}, err
}

// saveProduct creates or changes a product. A product has its sku once, so that a repeat makes no other product.
func saveProduct(ctx context.Context, c call, in productIn) (toolResult, error) {
	a, err := c.get(ctx, "/v1/products", pageIn{Limit: 1}.query("factory_id", in.FactoryID, "sku", in.SKU))
	found, err := into[[]struct{ ID string }](a, err)
	if err != nil {
		return toolResult{}, err
	}
	body := pick(in, "name", "description", "url")
	if in.Amount != nil || in.Currency != "" {
		body["price"] = pick(in, "amount", "currency")
	}
	method, path, text := http.MethodPost, "/v1/products", "The product is created."
	if len(found) > 0 {
		method, path, text = http.MethodPatch, pathOf("products", found[0].ID), "The product is changed."
	} else {
		body["factory_id"], body["sku"] = in.FactoryID, in.SKU
	}
	switch ask, err := c.asks(in.Confirmation); {
	case err != nil:
		return toolResult{}, err
	case ask:
		return c.input("This creates or changes the product "+strconv.Quote(in.SKU)+".", body), nil
	}
	a, err = c.caller.call(ctx, method, path, body, c.key+"-"+strings.ToLower(method))
	data, err := into[object](a, err)
	return toolResult{text: a.note() + text, data: pick(data, productMembers...)}, err
}

func estimate(ctx context.Context, c call, in estimateIn) (toolResult, error) {
	a, err := c.caller.call(ctx, http.MethodPost, "/v1/balance/estimates", in, "")
	data, err := into[any](a, err)
	return toolResult{text: "The price with a live key. Test keys spend nothing.", data: data}, err
}

func studio(ctx context.Context, c call, in studioIn) (toolResult, error) {
	wait, err := in.wait()
	if err != nil {
		return toolResult{}, err
	}
	of := studioOperations[in.Kind]
	body := pick(in, "prompt", "text", "model", "aspect_ratio", "duration_seconds", "language", "voice", "image_url")
	ask, err := c.asks(in.Confirmation)
	if err != nil {
		return toolResult{}, err
	}
	if ask {
		return c.price(ctx, of[1], object{"body": body}, "A new generation in the studio: "+in.Kind+".")
	}
	began := c.now()
	a, err := c.caller.call(ctx, http.MethodPost, "/v1/studio/"+of[0], body, c.key)
	if err != nil {
		return toolResult{}, err
	}
	return c.await(ctx, "studio/generations", a, began, wait)
}

type publishIn struct {
	ContentItemID    string   `json:"content_item_id"`
	When             string   `json:"when"`
	SocialAccountIDs []string `json:"social_account_ids,omitempty"`
	Confirmation     string   `json:"confirmation,omitempty"`
}

var publishTexts = map[string]string{
	"when": "now, never, " + timeText,
}

// publish schedules or publishes an item. Its idempotency keys have the version of the item, because the same change
// can be made again after another. An item that is as the call wants it is left as it is.
func publish(ctx context.Context, c call, in publishIn) (toolResult, error) {
	path := pathOf("content-items", in.ContentItemID)
	item, err := into[struct {
		FactoryID string     `json:"factory_id"`
		State     string     `json:"state"`
		Version   int64      `json:"version"`
		PublishAt *time.Time `json:"publish_at"`
		Title     string     `json:"title"`
		Caption   string     `json:"caption"`
		Hashtags  []string   `json:"hashtags"`
		Accounts  []string   `json:"social_account_ids"`
	}](c.get(ctx, path, nil))
	if err != nil {
		return toolResult{}, err
	}
	body, to, when := pick(in, "social_account_ids"), "/schedule", in.When
	switch in.When {
	case "now":
		to = "/publish"
		if item.State == "publishing" || item.State == "published" && len(in.SocialAccountIDs) == 0 {
			return c.read(ctx, path, "The item is already being published or published. ")
		}
	case "never":
		if len(in.SocialAccountIDs) > 0 {
			return toolResult{}, invalid("social_account_ids", "An item that is taken off the schedule has no "+
				"accounts.")
		}
		if item.PublishAt == nil {
			return c.read(ctx, path, "The item is not scheduled. ")
		}
		body["publish_at"] = nil
	default:
		if when, err = c.timeOf(ctx, "when", in.When, item.FactoryID); err != nil {
			return toolResult{}, err
		}
		at, _ := time.Parse(time.RFC3339, when)
		if item.State == "scheduled" && item.PublishAt != nil && item.PublishAt.Equal(at) &&
			len(in.SocialAccountIDs) == 0 {
			return c.read(ctx, path, "The item is already scheduled for this time. ")
		}
		body["publish_at"] = when
	}
	ask, err := c.asks(in.Confirmation)
	switch {
	case err != nil:
		return toolResult{}, err
	case ask && in.When == "never":
		return c.input("This takes the item off the schedule.",
			object{"title": item.Title, "publish_at": item.PublishAt}), nil
	case ask:
		accounts := any(in.SocialAccountIDs)
		if len(in.SocialAccountIDs) == 0 {
			accounts = item.Accounts
		}
		if list, _ := accounts.([]string); len(list) == 0 {
			accounts = "those of the factory"
		}
		return c.input("This publishes the item publicly: "+when+". It costs no credits.", object{"title": item.Title,
			"caption": item.Caption, "hashtags": item.Hashtags, "social_accounts": accounts, "publish_at": when}), nil
	}
	key := c.key + "-" + strconv.FormatInt(item.Version, 10)
	if _, err := c.caller.call(ctx, http.MethodPost, path+to, body, key); err != nil {
		return toolResult{}, err
	}
	return c.read(ctx, path, "")
}

// read returns how an item stands after a decision about it. Its texts and files have been read before.
func (c call) read(ctx context.Context, path, note string) (toolResult, error) {
	item, err := into[object](c.get(ctx, path, nil))
	out := itemSaid(note, item)
	out.data = pick(item, "id", "kind", "state", "title", "publish_at", "published_at", "approval", "waits_for",
		"social_account_ids", "omitted_accounts", "publications", "failure")
	return out, err
}

// timeOf reads a time. One without a zone is in the time zone of a factory's schedule, or UTC.
func (c call) timeOf(ctx context.Context, param, text, factory string) (string, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC().Format(time.RFC3339), nil
	}
	zoneless := ""
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if _, err := time.Parse(layout, text); err == nil {
			zoneless = layout
		}
	}
	if zoneless == "" {
		return "", invalid(param, "%s must be a time such as 2027-01-15T09:00:00Z, or 2027-01-15T09:00 in the "+
			"factory's time zone.", param)
	}
	f, err := into[struct{ Schedule *struct{ Timezone string } }](c.get(ctx, pathOf("factories", factory), nil))
	if err != nil {
		return "", err
	}
	zone := time.UTC
	if f.Schedule != nil {
		if zone, err = time.LoadLocation(f.Schedule.Timezone); err != nil {
			return "", invalid(param, "The time zone of the factory is not known here: give a time such as "+
				"2027-01-15T09:00:00Z.")
		}
	}
	at, err := time.Parse(zoneless, text)
	return clock.Instant(at, zone).UTC().Format(time.RFC3339), err
}

type uploadIn struct {
	orderIn
	waitIn
	SourceURL string `json:"source_url,omitempty"`
	MediaID   string `json:"media_id,omitempty"`
	MimeType  string `json:"mime_type,omitempty"`
	Bytes     int64  `json:"bytes,omitempty"`
	SHA256    string `json:"sha256,omitempty"`
}

var uploadTexts = map[string]string{
	"source_url": "public https URL of the file", "media_id": "med_… of an earlier call: is it ready",
	"mime_type": "of a file to send yourself, with bytes and sha256",
}

// upload brings in a file by its address, or makes the address to which the caller sends it.
func upload(ctx context.Context, c call, in uploadIn) (toolResult, error) {
	wait, err := in.wait()
	body := pick(in, "source_url", "mime_type", "bytes", "sha256")
	switch {
	case err != nil:
		return toolResult{}, err
	case in.MediaID != "" && len(body) > 0:
		return toolResult{}, invalid("media_id", "media_id looks at an earlier file: send nothing else with it.")
	case in.MediaID == "" && in.SourceURL == "" && (in.MimeType == "" || in.Bytes == 0 || in.SHA256 == ""):
		return toolResult{}, invalid("source_url", "Send source_url, or mime_type, bytes and sha256 of a file that "+
			"you send yourself.")
	}
	began := c.now()
	if in.MediaID != "" {
		a, err := c.get(ctx, pathOf("media", in.MediaID), nil)
		return c.awaitMedia(ctx, a, err, began, wait)
	}
	switch ask, err := c.asks(in.Confirmation); {
	case err != nil:
		return toolResult{}, err
	case ask && in.SourceURL != "":
		return c.input("This fetches a file from the address, which sees the whole address. It costs no credits.",
			body), nil
	case ask:
		return c.input("This brings in a file. It costs no credits.", body), nil
	}
	a, err := c.caller.call(ctx, http.MethodPost, "/v1/media", body, c.key)
	if in.SourceURL == "" {
		wait = 0 // the caller has to send the file first
	}
	return c.awaitMedia(ctx, a, err, began, wait)
}

// awaitMedia reads a media until it is ready or rejected, or until the wait since a time is over.
func (c call) awaitMedia(ctx context.Context, a *answer, err error, began time.Time, wait time.Duration) (toolResult,
	error) {
	note := a.note()
	media, err := into[object](a, err)
	if err != nil {
		return toolResult{}, err
	}
	id, _ := media["id"].(string)
	for pause := time.Second; media["state"] == "pending"; pause += time.Second {
		left := wait - c.now().Sub(began)
		if left <= 0 || backoff.Sleep(ctx, min(pause, left)) != nil {
			break
		}
		next, err := into[object](c.get(ctx, pathOf("media", id), nil))
		if err != nil {
			break // the caller gets what was read before
		}
		media = next
	}
	text := note + id + " is pending: call upload_media with this media_id in a while."
	switch {
	case media["state"] == "ready":
		text = note + id + " is ready: it is an element of media in create_content, or image_url in studio_generate."
	case media["state"] == "rejected":
		text = note + id + " is rejected: the reason says why."
	case media["upload"] != nil:
		text = note + "Send the file within 15 minutes by the request in upload, with its headers as they are. Then " +
			"call upload_media with media_id: " + id + "."
	}
	return toolResult{text: text, data: pick(media, "id", "state", "type", "mime_type", "bytes", "width", "height",
		"duration_seconds", "reason", "upload", "url", "expires_at"), all: media["upload"] != nil}, nil
}

type reviewIn struct {
	ContentItemID string `json:"content_item_id"`
	Decision      string `json:"decision"`
	Note          string `json:"note,omitempty"`
	Confirmation  string `json:"confirmation,omitempty"`
}

var reviewTexts = map[string]string{"note": "needed with request_changes"}

// review approves an item, or asks for changes. Its idempotency keys have the version of the item, because the same
// decision can be made again after a change. An item that is as the call wants it is left as it is.
func review(ctx context.Context, c call, in reviewIn) (toolResult, error) {
	if in.Decision == "request_changes" && in.Note == "" {
		return toolResult{}, invalid("note", "Say in note what is to be changed, such as \"Name the price first.\"")
	}
	path := pathOf("content-items", in.ContentItemID)
	item, err := into[struct {
		Title     string   `json:"title"`
		Caption   string   `json:"caption"`
		Hashtags  []string `json:"hashtags"`
		PublishAt *string  `json:"publish_at"`
		Version   int64    `json:"version"`
		Approval  struct{ State string }
	}](c.get(ctx, path, nil))
	if err != nil {
		return toolResult{}, err
	}
	to := "/approve"
	switch {
	case in.Decision == "request_changes":
		to = "/request-changes"
	case item.Approval.State == "approved":
		return c.read(ctx, path, "The item is approved already. ")
	}
	switch ask, err := c.asks(in.Confirmation); {
	case err != nil:
		return toolResult{}, err
	case ask:
		text := "This asks for changes of the item."
		if in.Decision == "approve" {
			text = "This approves the item: it is published at its time, or at once if its factory publishes by itself."
		}
		return c.input(text, object{"title": item.Title, "caption": item.Caption, "hashtags": item.Hashtags,
			"publish_at": item.PublishAt, "note": in.Note}), nil
	}
	key := c.key + "-" + strconv.FormatInt(item.Version, 10)
	_, err = c.caller.call(ctx, http.MethodPost, pathOf("approvals", in.ContentItemID)+to, pick(in, "note"), key)
	if err != nil {
		return toolResult{}, err
	}
	return c.read(ctx, path, "")
}

// confirmTime is the time for which a confirmation holds.
const confirmTime = 15 * time.Minute

// asks reports whether a call with a live key has to be confirmed first. A confirmation that is not of this call is an
// error.
func (c call) asks(confirmation string) (bool, error) {
	switch {
	case !c.live():
		return false, nil
	case confirmation == "":
		return true, nil
	}
	text, _, _ := strings.Cut(confirmation, ".")
	until, err := strconv.ParseInt(text, 36, 64)
	if err != nil || !hmac.Equal([]byte(c.confirmation(until)), []byte(confirmation)) || c.now().Unix() >= until {
		return false, invalid("confirmation", "The confirmation is not that of this call, or is older than 15 "+
			"minutes. Call again without it, show the answer to the user, and send the confirmation of that answer.")
	}
	return false, nil
}

// confirmation returns the confirmation of the call until a time. It is of the tool, its arguments and the credential,
// by which it is signed: neither a model nor a text that it reads knows that. The call has its effect once with it,
// because its idempotency key follows from the same arguments.
func (c call) confirmation(until int64) string {
	secret := sha256.Sum256([]byte("confirmation of an agent\n" + c.token))
	text := strconv.FormatInt(until, 36)
	sum := hmac.New(sha256.New, secret[:])
	sum.Write([]byte(text + "\n" + c.mode + "\n" + c.base + "\n" + c.key))
	return text + "." + hex.EncodeToString(sum.Sum(nil)[:16])
}

// input is the answer to a call with a live key that is not confirmed.
func (c call) input(text string, data any) toolResult {
	return toolResult{text: "Nothing was done yet. " + text + " Show this to the user. Only if the user agrees, " +
		"repeat the " +
		"call with the same arguments and confirmation: \"" + c.confirmation(c.now().Add(confirmTime).Unix()) + "\"",
		data: data, all: true}
}

type feedIn struct {
	orderIn
	FactoryID    string `json:"factory_id"`
	SourceURL    string `json:"source_url,omitempty"`
	Format       string `json:"format,omitempty"`
	ConfirmRunID string `json:"confirm_run_id,omitempty"`
}

var feedTexts = map[string]string{
	"factory_id": "fac_… of type seller", "source_url": "https://… or med_…",
	"format":         "google_xml, google_tsv, yml, shopify_csv, csv, json_lines",
	"confirm_run_id": "run_… that is held: archive what is gone",
}

func (s *server) addFeeds() {
	add(s, tool[feedIn]{name: "sync_feed", scope: "products:write", effect: publishes,
		doc:   "Read a shop's feed into the catalog, and wait. With source_url and format, set it first.",
		texts: feedTexts, out: []string{"state", "refusals[]"}, run: syncFeed})
}

// kept are the members of a feed that stay if it gets another source.
var kept = []string{"mapping", "currency", "on_price_change", "on_sold_out", "on_removed", "photos", "schedule",
	"daily_time", "remake_per_day"}

// syncFeed reads a feed, and waits for its run. A repeat of the call looks at the same run.
func syncFeed(ctx context.Context, c call, in feedIn) (toolResult, error) {
	path := pathOf("factories", in.FactoryID, "feed")
	switch ask, err := c.asks(in.Confirmation); {
	case (in.SourceURL == "") != (in.Format == ""):
		return toolResult{}, invalid("source_url", "A feed is set by source_url and format. Send both or neither.")
	case in.SourceURL != "" && in.ConfirmRunID != "":
		return toolResult{}, invalid("confirm_run_id", "A run that is held is of the source that it has read: send no "+
			"source_url with it.")
	case err != nil:
		return toolResult{}, err
	case ask && in.ConfirmRunID != "":
		return c.input("This archives the products that are not in the feed any more. It costs no credits.",
			pick(in, "confirm_run_id")), nil
	case ask:
		return c.input("This reads the feed into the catalog: products are created, changed and archived, and posts "+
			"about them follow. It costs no credits.", pick(in, "source_url", "format")), nil
	}
	began := c.now()
	if in.SourceURL != "" {
		if err := c.setFeed(ctx, path, in); err != nil {
			return toolResult{}, err
		}
	}
	a, err := c.caller.call(ctx, http.MethodPost, path+"/sync", pick(in, "confirm_run_id"), c.key)
	if err != nil {
		return toolResult{}, err
	}
	return c.awaitRun(ctx, path+"/runs/", a, began)
}

// setFeed sets the source and the format of a feed, and keeps its other members.
func (c call) setFeed(ctx context.Context, path string, in feedIn) error {
	body := object{}
	was, err := into[object](c.get(ctx, path, nil))
	var refused *failure
	if err == nil {
		body = pick(was, kept...)
	} else if !errors.As(err, &refused) || refused.Code != errs.NotFound {
		return err
	}
	for name, value := range body {
		if value == nil {
			delete(body, name)
		}
	}
	body["format"], body["source"] = in.Format, object{"url": in.SourceURL}
	if strings.HasPrefix(in.SourceURL, "med_") {
		body["source"], body["schedule"] = object{"media_id": in.SourceURL}, "manual"
		delete(body, "daily_time")
	}
	if in.Format != "csv" {
		delete(body, "mapping")
	}
	if body["currency"] == nil { // prices that have none are in that of the shop
		if of, err := into[object](c.get(ctx, pathOf("factories", in.FactoryID), nil)); err == nil {
			if settings, _ := of["settings"].(object); settings["currency"] != nil {
				body["currency"] = settings["currency"]
			}
		}
	}
	_, err = c.caller.call(ctx, http.MethodPut, path, body, "") // a repeat sets the same, so that it needs no key
	return err
}

// runIn has the members of a run that its text tells.
type runIn struct {
	ID, State                                                   string
	Total, Created, Changed, Unchanged, Archived, Refused, Gone int64
}

// awaitRun reads a run until it has ended, or until the usual wait is over.
func (c call) awaitRun(ctx context.Context, runs string, a *answer, began time.Time) (toolResult, error) {
	note := a.note()
	run, err := into[runIn](a, nil)
	if err != nil {
		return toolResult{}, err
	}
	for pause := time.Second; ; pause += time.Second {
		if a, err = c.get(ctx, runs+url.PathEscape(run.ID), nil); err != nil {
			return toolResult{}, err
		}
		if run, err = into[runIn](a, nil); err != nil {
			return toolResult{}, err
		}
		left := usualWait*time.Second - c.now().Sub(began)
		works := run.State == "queued" || run.State == "running"
		if !works || left <= 0 || backoff.Sleep(ctx, min(pause, left)) != nil {
			break
		}
	}
	data, err := into[object](a, err)
	return toolResult{text: note + run.text(), data: pick(data, "id", "state", "held_reason", "read", "created",
		"changed", "unchanged", "archived", "refused", "refusals", "refusals_url", "failure")}, err
}

// text tells how far a run is, or what it did.
func (r runIn) text() string {
	text := fmt.Sprintf("%s is %s.", r.ID, r.State)
	switch r.State {
	case "queued", "running":
		text += fmt.Sprintf(" %d of %d rows are done. Call again with the same arguments to see how far it is.",
			r.Created+r.Changed+r.Unchanged+r.Refused, r.Total)
	case "held":
		text += fmt.Sprintf(" %d of the products are not in the feed any more, a fifth or more, so nothing was "+
			"changed. Ask the user. If the feed is right, call sync_feed with this confirm_run_id.", r.Gone)
	case "failed":
		text += " The failure says why."
	case "canceled":
		text += " It was held, and a newer run has taken its place."
	default:
		text += fmt.Sprintf(" %d created, %d changed, %d unchanged, %d archived, %d refused.", r.Created, r.Changed,
			r.Unchanged, r.Archived, r.Refused)
	}
	return text
}
