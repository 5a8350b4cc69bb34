package instagram

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

const (
	processing = time.Minute      // between two looks at a container that is not filled yet
	filled     = 30 * time.Second // delay of the first look at a video
	listed     = 10 * time.Second // between two looks at a post or at the list of posts
	// settled is how long a published post takes to appear in the list of posts.
	settled = 2 * time.Minute
	// maxLooks bounds how often the adapter reads the address of a post.
	maxLooks = 3
)

// generated declares that AI has made a post. A carousel declares it on its own container only.
const generated = "is_ai_generated"

// The states of a container.
const (
	inProgress = "IN_PROGRESS"
	finished   = "FINISHED"
	failed     = "ERROR"
	expired    = "EXPIRED"
	published  = "PUBLISHED"
)

// work is the content of a handle. Its members are filled one after the other.
type work struct {
	Children  []string `json:"children,omitempty"`  // containers of a carousel's media
	Ready     int      `json:"ready,omitempty"`     // number of filled containers among them
	Container string   `json:"container,omitempty"` // container of the post
	Media     string   `json:"media,omitempty"`     // id of the post
	Looks     int      `json:"looks,omitempty"`
	Comment   bool     `json:"comment,omitempty"` // the first comment is still to be written
}

func parse(h platform.Handle) (w work, err error) {
	if err := h.Decode(&w); err != nil {
		return w, err
	}
	ids := slices.DeleteFunc(append(slices.Clone(w.Children), w.Container, w.Media),
		func(id string) bool { return id == "" })
	if len(ids) == 0 || slices.ContainsFunc(ids, func(id string) bool { return !graph.Number(id) }) || w.Ready < 0 ||
		w.Ready > len(w.Children) {
		return w, platform.Reject(platform.CodeInvalidHandle, "The publication is not known.")
	}
	return w, nil
}

// Start implements platform.Publisher. It makes the first container.
func (p *Platform) Start(ctx context.Context, a platform.Account, post platform.Post) (platform.Step, error) {
	var limit struct {
		Data []struct {
			Used   int `json:"quota_usage"`
			Config struct {
				Total int `json:"quota_total"`
			} `json:"config"`
		} `json:"data"`
	}
	if err := p.read(ctx, a.Token.Access, "/"+a.ID+"/content_publishing_limit",
		url.Values{"fields": {"quota_usage,config"}}, &limit); err != nil {
		return platform.Step{}, err
	}
	if len(limit.Data) > 0 && limit.Data[0].Config.Total > 0 && limit.Data[0].Used >= limit.Data[0].Config.Total {
		return platform.Step{}, platform.Full(time.Hour)
	}
	var w work
	id, err := p.container(ctx, a, post, 0)
	if err != nil {
		return platform.Step{}, err
	}
	if post.Kind == platform.KindCarousel {
		w.Children = []string{id}
		return platform.Go(platform.StageCheck, w, 0)
	}
	w.Container = id
	return platform.Go(platform.StageCheck, w, wait(post.Media[0]))
}

// wait returns how long Instagram usually takes to fill the container of a file.
func wait(m platform.Media) time.Duration {
	if m.Video() {
		return filled
	}
	return 5 * time.Second
}

// waitAll returns how long Instagram usually takes to fill the containers of files.
func waitAll(files []platform.Media) (longest time.Duration) {
	for _, m := range files {
		longest = max(longest, wait(m))
	}
	return longest
}

// container makes the container of the n-th file.
func (p *Platform) container(ctx context.Context, a platform.Account, post platform.Post, n int) (string, error) {
	m := post.Media[n]
	form := url.Values{}
	if m.Video() {
		form.Set("video_url", m.URL)
	} else {
		form.Set("image_url", m.URL)
		if m.Alt != "" && post.Kind != platform.KindStory {
			form.Set("alt_text", m.Alt)
		}
	}
	if post.Options.Generated && post.Kind != platform.KindCarousel {
		form.Set(generated, "true")
	}
	switch {
	case post.Kind == platform.KindCarousel:
		form.Set("is_carousel_item", "true")
		if m.Video() {
			form.Set("media_type", "VIDEO")
		}
	case post.Kind == platform.KindStory:
		form.Set("media_type", "STORIES")
	default:
		form.Set("caption", platform.Arrange(post, capabilities).Body)
		if m.Video() {
			form.Set("media_type", "REELS")
			if post.Cover != nil && post.Cover.URL != "" {
				form.Set("cover_url", post.Cover.URL)
			} else if at := post.Options.CoverAt; at > 0 {
				form.Set("thumb_offset", strconv.FormatInt(at.Milliseconds(), 10))
			}
		}
	}
	return p.write(ctx, a.Token.Access, "/"+a.ID+"/media", form, false)
}

// Check implements platform.Publisher. It makes the next container, waits for one, or reads the
// address of the post.
func (p *Platform) Check(ctx context.Context, a platform.Account, post platform.Post,
	h platform.Handle) (platform.Step, error) {
	w, err := parse(h)
	if err != nil {
		return platform.Step{}, err
	}
	switch {
	case w.Media != "":
		return p.address(ctx, a, post, w)
	case w.Container != "":
		return p.look(ctx, a, post, w)
	case len(w.Children) < len(post.Media):
		id, err := p.container(ctx, a, post, len(w.Children))
		if err != nil {
			return platform.Step{}, err
		}
		w.Children = append(w.Children, id)
		if len(w.Children) == len(post.Media) {
			return platform.Go(platform.StageCheck, w, waitAll(post.Media))
		}
		return platform.Go(platform.StageCheck, w, 0)
	case w.Ready < len(w.Children):
		state, err := p.state(ctx, a, w.Children[w.Ready])
		if err != nil {
			return platform.Step{}, err
		}
		if state == inProgress {
			return platform.Go(platform.StageCheck, w, processing)
		}
		w.Ready++
		return platform.Go(platform.StageCheck, w, 0)
	default:
		form := url.Values{"media_type": {"CAROUSEL"}, "children": {strings.Join(w.Children, ",")},
			"caption": {platform.Arrange(post, capabilities).Body}}
		if post.Options.Generated {
			form.Set(generated, "true")
		}
		if w.Container, err = p.write(ctx, a.Token.Access, "/"+a.ID+"/media", form, false); err != nil {
			return platform.Step{}, err
		}
		return platform.Go(platform.StageCheck, w, wait(platform.Media{}))
	}
}

// look checks whether the container of the post is filled.
func (p *Platform) look(ctx context.Context, a platform.Account, post platform.Post, w work) (platform.Step, error) {
	state, err := p.state(ctx, a, w.Container)
	switch {
	case err != nil:
		return platform.Step{}, err
	case state == inProgress:
		return platform.Go(platform.StageCheck, w, processing)
	case state == published:
		// A worker published it and died before it stored the step.
		return p.find(ctx, a, post, w, time.Time{})
	default:
		return platform.Go(platform.StageFinalize, w, 0)
	}
}

// state returns the state of a container: IN_PROGRESS, FINISHED or PUBLISHED.
func (p *Platform) state(ctx context.Context, a platform.Account, container string) (string, error) {
	var c struct {
		State string `json:"status_code"`
	}
	if err := p.read(ctx, a.Token.Access, "/"+container, url.Values{"fields": {"status_code,status"}}, &c); err != nil {
		return "", err
	}
	switch c.State {
	case inProgress, finished, published:
		return c.State, nil
	case failed:
		return "", platform.Reject(platform.CodeMediaRefused, "Instagram could not process the media.")
	case expired:
		return "", platform.Again(nil)
	default:
		return "", platform.Busy()
	}
}

// Finalize implements platform.Publisher. It publishes the container, or writes the first comment.
func (p *Platform) Finalize(ctx context.Context, a platform.Account, post platform.Post,
	h platform.Handle) (platform.Step, error) {
	w, err := parse(h)
	if err != nil {
		return platform.Step{}, err
	}
	if w.Comment && w.Media != "" {
		_, err := p.write(ctx, a.Token.Access, "/"+w.Media+"/comments",
			url.Values{"message": {post.Options.FirstComment}}, true)
		if kind := platform.KindOf(err); err != nil && (kind == platform.Retry || kind == platform.Unknown) {
			return platform.Step{}, err
		}
		done := platform.Step{Next: platform.StageDone}
		if err != nil {
			done.Warning = platform.Warn(platform.CommentNotWritten, "Instagram has not taken the first comment.", err)
		}
		return done, nil
	}
	if w.Container == "" {
		return platform.Step{}, platform.Reject(platform.CodeInvalidHandle, "The publication is not known.")
	}
	id, err := p.write(ctx, a.Token.Access, "/"+a.ID+"/media_publish", url.Values{"creation_id": {w.Container}}, true)
	if err != nil {
		return platform.Step{}, err
	}
	return posted(id)
}

// posted returns the step that follows the creation of a post.
func posted(id string) (platform.Step, error) {
	step, err := platform.Go(platform.StageCheck, work{Media: id}, 0)
	step.Post = platform.Published{ID: id}
	return step, err
}

// address reads the public address of the post. The post is visible even if this fails.
func (p *Platform) address(ctx context.Context, a platform.Account, post platform.Post, w work) (platform.Step, error) {
	var media struct {
		Permalink string `json:"permalink"`
	}
	err := p.read(ctx, a.Token.Access, "/"+w.Media, url.Values{"fields": {"permalink"}}, &media)
	if err != nil && ctx.Err() != nil {
		return platform.Step{}, err
	}
	if w.Looks++; err != nil && platform.KindOf(err) == platform.Retry && w.Looks < maxLooks {
		return platform.Go(platform.StageCheck, w, listed)
	}
	step := platform.Step{Next: platform.StageDone}
	if post.Options.FirstComment != "" {
		w.Comment = true
		if step, err = platform.Go(platform.StageFinalize, w, 0); err != nil {
			return step, err
		}
	}
	step.Post = platform.Published{ID: w.Media, URL: media.Permalink}
	return step, nil
}

// Reconcile implements platform.Publisher. The state of the container tells whether it is
// published.
func (p *Platform) Reconcile(ctx context.Context, a platform.Account, post platform.Post, h platform.Handle,
	begun time.Time) (platform.Step, error) {
	w, err := parse(h)
	if err != nil {
		return platform.Step{}, err
	}
	if w.Media != "" {
		return platform.CommentInDoubt(), nil
	}
	if w.Container == "" {
		return platform.Step{}, platform.Reject(platform.CodeInvalidHandle, "The publication is not known.")
	}
	state, err := p.state(ctx, a, w.Container)
	if err != nil {
		return platform.Step{}, err
	}
	if state != published {
		// Instagram may still be working on the call.
		return platform.Go(platform.StageReconcile, w, processing)
	}
	return p.find(ctx, a, post, w, begun)
}

// find finds the post of a published container among the newest posts, because the container does
// not name its post.
func (p *Platform) find(ctx context.Context, a platform.Account, post platform.Post, w work,
	begun time.Time) (platform.Step, error) {
	edge := "/media"
	want := platform.Arrange(post, capabilities).Body
	if post.Kind == platform.KindStory {
		edge, want = "/stories", ""
	}
	var list struct {
		Data []struct {
			ID      string `json:"id"`
			Caption string `json:"caption"`
			At      string `json:"timestamp"`
		} `json:"data"`
	}
	if err := p.read(ctx, a.Token.Access, "/"+a.ID+edge, url.Values{"fields": {"id,caption,timestamp"},
		"limit": {"25"}}, &list); err != nil {
		return platform.Step{}, err
	}
	for _, m := range list.Data {
		at, err := time.Parse("2006-01-02T15:04:05-0700", m.At)
		if err == nil && graph.Number(m.ID) && strings.TrimSpace(m.Caption) == want &&
			!at.Before(begun.Add(-time.Minute)) {
			return posted(m.ID)
		}
	}
	if !begun.IsZero() && p.Client.Now().Sub(begun) < settled {
		return platform.Go(platform.StageReconcile, w, listed)
	}
	if w.Looks++; begun.IsZero() && w.Looks < maxLooks {
		return platform.Go(platform.StageCheck, w, listed)
	}
	return platform.Step{Next: platform.StageDone}, nil
}
