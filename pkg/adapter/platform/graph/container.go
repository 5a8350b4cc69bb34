package graph

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

const (
	processing = time.Minute      // between two looks at a container that is not filled yet
	filled     = 30 * time.Second // delay of the first look at a video
	listed     = 10 * time.Second // between two looks at a post
	// maxLooks bounds how often the address of a post is read.
	maxLooks = 3
	// again is the time before containers are made again, and maxAgain bounds how often that is done in a
	// publication.
	again    = 10 * time.Second
	maxAgain = 3
)

// The states of a container.
const (
	inProgress = "IN_PROGRESS"
	finished   = "FINISHED"
	failed     = "ERROR"
	expired    = "EXPIRED"
	published  = "PUBLISHED"
	missing    = "" // the platform does not find the container
)

// Boxes is the part of a handle of a publication by containers.
type Boxes struct {
	Children []string `json:"children,omitempty"` // containers of a carousel's media
	Ready    int      `json:"ready,omitempty"`    // number of filled containers among them
	Box      string   `json:"box,omitempty"`      // container of the next post
	For      int      `json:"for,omitempty"`      // number of that post
	Again    int      `json:"again,omitempty"`    // how often containers were made again
}

// renew forgets the containers of the next post, so that they are made again. It reports whether that may be done.
func (s *Boxes) renew() bool {
	if s.Again >= maxAgain {
		return false
	}
	*s = Boxes{Again: s.Again + 1}
	return true
}

// Containers publishes on Instagram and Threads. Media and texts are put into containers, which the platform fills from
// the addresses of the media. A container stays invisible until one call publishes it, and expires after 24 hours. If
// the answer to that call is lost, the container tells the outcome. It implements the steps of a platform.
type Containers struct {
	Graph API
	// Edge is the edge of containers, and Limit the edge with the number of posts that the account may publish.
	Edge, Limit string
	// State is the member with the state of a container, and Detail one that explains it.
	State, Detail string
	// Caption is the member with the text of a post.
	Caption string
	// Image is the delay of the first look at what has no video.
	Image time.Duration
	// Settled is how long a published post takes to appear in the list of posts: if it does not, the publication ends
	// without its id. If it is 0, the post is looked for as long as any.
	Settled time.Duration
	// Words are the explanations of Detail that are no code.
	Words []State
	// File returns the container of the i-th file.
	File func(p platform.Post, i int) url.Values
	// Describe adds the text of the next post and what else belongs to it to its container.
	Describe func(form url.Values, w *platform.Work[Boxes])
	// List returns the edge that lists the account's newest posts, and the text by which the next post is found there.
	List func(w *platform.Work[Boxes]) (edge, text string)
}

// State is an explanation of a failed container, and the meaning that it has.
type State struct {
	Word string
	Row
}

// Begin implements platform.Steps. It reads how much the account may publish.
func (c *Containers) Begin(ctx context.Context, w *platform.Work[Boxes]) error {
	var limit struct {
		Data []struct {
			Used   int `json:"quota_usage"`
			Config struct {
				Total int `json:"quota_total"`
			} `json:"config"`
		} `json:"data"`
	}
	err := c.Graph.Get(ctx, w.Account.Token.Access, "/"+w.Account.ID+c.Limit,
		url.Values{"fields": {"quota_usage,config"}}, &limit)
	if err != nil {
		return err
	}
	if len(limit.Data) > 0 && limit.Data[0].Config.Total > 0 && limit.Data[0].Used >= limit.Data[0].Config.Total {
		return platform.Full(time.Hour)
	}
	return nil
}

// Prepare implements platform.Steps. It makes the next container, or looks at one. A container that is gone after the
// first post of a thread is made again here, because the publication cannot begin again.
func (c *Containers) Prepare(ctx context.Context, w *platform.Work[Boxes]) (ready bool, wait time.Duration, err error) {
	ready, wait, err = c.prepare(ctx, w)
	if platform.KindOf(err) == platform.Restart && w.Made > 0 && w.Own.renew() {
		return false, again, nil
	}
	return ready, wait, err
}

func (c *Containers) prepare(ctx context.Context, w *platform.Work[Boxes]) (ready bool, wait time.Duration, err error) {
	s := &w.Own
	carousel := w.Made == 0 && len(w.Post.Media) > 1
	switch {
	case s.Box != "" && s.For == w.Made+1:
		if state, err := c.state(ctx, w.Account, s.Box); err != nil || state == inProgress {
			return false, processing, err
		}
		return true, 0, nil
	case carousel && len(s.Children) < len(w.Post.Media):
		form := c.File(w.Post, len(s.Children))
		form.Set("is_carousel_item", "true")
		id, err := c.Graph.Create(ctx, w.Account.Token.Access, "/"+w.Account.ID+c.Edge, form, false)
		if err != nil {
			return false, 0, err
		}
		if s.Children = append(s.Children, id); len(s.Children) < len(w.Post.Media) {
			return false, 0, nil
		}
		return false, c.wait(w.Post.Media), nil
	case carousel && s.Ready < len(s.Children):
		if state, err := c.state(ctx, w.Account, s.Children[s.Ready]); err != nil || state == inProgress {
			return false, processing, err
		}
		s.Ready++
		return false, 0, nil
	}
	form, files := url.Values{"media_type": {"TEXT"}}, []platform.Media(nil)
	switch {
	case carousel:
		form = url.Values{"media_type": {"CAROUSEL"}, "children": {strings.Join(s.Children, ",")}}
	case w.Made == 0 && len(w.Post.Media) == 1:
		form, files = c.File(w.Post, 0), w.Post.Media
	}
	c.Describe(form, w)
	if s.Box, err = c.Graph.Create(ctx, w.Account.Token.Access, "/"+w.Account.ID+c.Edge, form, false); err != nil {
		return false, 0, err
	}
	s.For = w.Made + 1
	return false, c.wait(files), nil
}

// wait returns how long the platform usually takes to fill the containers of files.
func (c *Containers) wait(files []platform.Media) time.Duration {
	for _, m := range files {
		if m.Video() {
			return filled
		}
	}
	return c.Image
}

// seen is a container as the platform shows it: its state, and what explains it.
type seen struct{ state, detail string }

// look reads a container.
func (c *Containers) look(ctx context.Context, a platform.Account, container string) (box seen, err error) {
	gone := c.Graph.Refusals
	gone.Missing = func() *platform.Error { return platform.Again(nil) }
	call := c.Graph.Call(http.MethodGet, "/"+url.PathEscape(container), a.Token.Access)
	call.Query = url.Values{"fields": {c.State + "," + c.Detail}}
	var answer map[string]any
	err = c.Graph.Client.JSON(ctx, call, gone.Refused(false), &answer)
	if platform.KindOf(err) == platform.Restart {
		return seen{missing, WordsOf(err)}, nil
	}
	if err != nil {
		return box, err
	}
	box.state, _ = answer[c.State].(string)
	box.detail, _ = answer[c.Detail].(string)
	switch box.state {
	case inProgress, finished, published, failed, expired:
		return box, nil
	}
	return box, platform.Busy()
}

// state returns the state of a container: IN_PROGRESS, FINISHED or PUBLISHED.
func (c *Containers) state(ctx context.Context, a platform.Account, container string) (string, error) {
	box, err := c.look(ctx, a, container)
	if err == nil {
		err = c.fault(box)
	}
	return box.state, err
}

// named finds the code in the explanation of a failed container, as in "Error: Media upload has failed with error code
// 2207026".
var named = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b\d{5,7}\b`) })

// fault returns the error of a container that cannot be published, or nil. A container that has failed for a reason
// that is not known is made again.
func (c *Containers) fault(box seen) error {
	switch box.state {
	case expired, missing:
		return platform.Again(nil).Saying(box.detail)
	case failed:
	default:
		return nil
	}
	row := Row{Outcome: Renew}
	if code, err := strconv.Atoi(named().FindString(box.detail)); err == nil {
		if known := c.Graph.Refusals.Find(code, code); known != nil {
			row = *known
		}
	}
	for _, state := range c.Words {
		if strings.Contains(box.detail, state.Word) {
			row = state.Row
		}
	}
	switch { // a container that has failed stays so
	case row.Outcome == Passing, row.Outcome == Wait, row.Outcome == Unclear && row.As == platform.CodeMediaRefused:
		row = Row{Outcome: Renew}
	case row.Outcome == Unclear:
		row.Outcome = Refused
	}
	return c.Graph.Refusals.as(row, false, wire.Answer{}).Saying(box.detail)
}

// Ready reports whether a container can be published. The error is Unknown if it is published already, and Restart if
// it is gone.
func (c *Containers) Ready(ctx context.Context, a platform.Account, container string) (bool, error) {
	state, err := c.state(ctx, a, container)
	if err == nil && state == published {
		err = platform.Lost(nil)
	}
	return state == finished, err
}

// Make implements platform.Steps. It publishes the container.
func (c *Containers) Make(ctx context.Context, w *platform.Work[Boxes]) (platform.Ref, error) {
	if w.Own.For != w.Made+1 || w.Own.Box == "" {
		return platform.Ref{}, platform.Reject(platform.CodeInvalidHandle, "The publication is not known.")
	}
	id, err := c.Graph.Create(ctx, w.Account.Token.Access, "/"+w.Account.ID+c.Edge+"_publish",
		url.Values{"creation_id": {w.Own.Box}}, true)
	if platform.KindOf(err) == platform.Restart {
		err = c.refilled(ctx, w, err)
	}
	return platform.Ref{ID: id}, err
}

// refilled returns the error after the platform has not found the container that it was to publish, although it was
// filled. Nothing was posted if the container says so: it is made again then.
func (c *Containers) refilled(ctx context.Context, w *platform.Work[Boxes], refused error) error {
	box, err := c.look(ctx, w.Account, w.Own.Box)
	switch {
	case err != nil, box.state == published, box.state == inProgress:
		return platform.Lost(refused)
	case box.state == expired && w.Made == 0:
		return refused // the publication begins again
	case !w.Own.renew():
		return platform.Reject(platform.CodeMediaExpired, c.Graph.Refusals.Label+" loses again and again what was "+
			"prepared for the post.").Saying(WordsOf(refused)).Because(refused)
	}
	w.Wait = again
	return platform.ErrMore
}

// WordsOf returns the platform's own words in an error.
func WordsOf(err error) string {
	var e *platform.Error
	if errors.As(err, &e) {
		return e.Words
	}
	return ""
}

// Find implements platform.Steps. A published container does not name its post, which is found among the newest ones.
func (c *Containers) Find(ctx context.Context, w *platform.Work[Boxes]) (platform.Ref, platform.Stage, error) {
	box, err := c.look(ctx, w.Account, w.Own.Box)
	if err != nil {
		return platform.Ref{}, "", err
	}
	switch box.state {
	case failed, expired: // nothing was posted
		err := c.fault(box)
		if platform.KindOf(err) == platform.Restart && w.Made > 0 && w.Own.renew() {
			w.Wait = again
			return platform.Ref{}, platform.StageCheck, nil
		}
		return platform.Ref{}, platform.StageReconcile, err
	case inProgress, finished:
		// While the container is not published, the platform may still be working on the call.
		return platform.Ref{}, platform.StageReconcile, nil
	}
	edge, want := c.List(w)
	var list struct {
		Data []map[string]any `json:"data"`
	}
	if err := c.Graph.Get(ctx, w.Account.Token.Access, "/"+w.Account.ID+edge,
		url.Values{"fields": {"id," + c.Caption + ",timestamp"}, "limit": {"25"}}, &list); err != nil {
		return platform.Ref{}, "", err
	}
	for _, post := range list.Data {
		id, _ := post["id"].(string)
		text, _ := post[c.Caption].(string)
		stamp, _ := post["timestamp"].(string)
		at, err := time.Parse(TimeLayout, stamp)
		if err == nil && Number(id) && strings.TrimSpace(text) == want && !at.Before(w.SentAt.Add(-time.Minute)) {
			return platform.Ref{ID: id}, platform.StageDone, nil
		}
	}
	if box.state == published && c.Settled > 0 && c.Graph.Client.Now().Sub(w.SentAt) >= c.Settled {
		return platform.Ref{}, platform.StageDone, nil
	}
	return platform.Ref{}, platform.StageReconcile, nil
}

// End implements platform.Ender. It reads the address of the post, which is visible even if this fails.
func (c *Containers) End(ctx context.Context, w *platform.Work[Boxes]) (ended bool, wait time.Duration, err error) {
	if w.First.URL != "" {
		return true, 0, nil
	}
	var media struct {
		Permalink string `json:"permalink"`
	}
	err = c.Graph.Get(ctx, w.Account.Token.Access, "/"+url.PathEscape(w.First.ID), url.Values{"fields": {"permalink"}},
		&media)
	if err != nil && ctx.Err() != nil {
		return false, 0, err
	}
	w.First.URL = media.Permalink
	return err == nil || platform.KindOf(err) != platform.Retry || w.Looks >= maxLooks, listed, nil
}
