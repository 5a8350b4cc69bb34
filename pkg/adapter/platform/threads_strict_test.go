package platform_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/testdata/platforms/control"
	fake "github.com/content-automation/api/testdata/platforms/threads"
)

// reply publishes a post with a comment on it, and writes a reply to the comment as the worker of comments does: it
// calls again after an error that is not final. The platform gives an answer meanwhile, unless it is nil. It returns
// the id of the reply, the attempts and the last error.
func reply(t *testing.T, f *platformtest.Fixture, a *control.Answer) (id string, attempts int, err error) {
	t.Helper()
	done, err := platformtest.Publish(t.Context(), f, f.Account, platform.Post{Key: "pub_1", Kind: platform.KindPost,
		Caption: "A shoe"})
	if err != nil {
		t.Fatal(err)
	}
	c := f.Fake.(*fake.Fake).AddComment(control.Comment{Post: done.Post.ID, Text: "How much?"})
	if a != nil {
		f.Fake.(*fake.Fake).Say(*a)
	}
	var kept platform.Handle
	for attempts = 1; attempts < 10; attempts++ {
		id, err = f.Adapter.(platform.Replier).Reply(t.Context(), f.Account, platform.Reply{Key: "com_1-1",
			Post: done.Post, To: platform.Comment{ID: c.ID}, Text: "Ten dollars", At: f.Now(), Handle: &kept})
		if err == nil || platform.KindOf(err) != platform.Retry {
			return id, attempts, err
		}
		f.Advance(max(5*time.Second, retryAfter(err)))
	}
	return id, attempts, err
}

func retryAfter(err error) time.Duration {
	if e, ok := err.(*platform.Error); ok {
		return e.RetryAfter
	}
	return 0
}

// A reply is published once its container is filled, and not before.
func TestAReplyWaitsForItsContainer(t *testing.T) {
	for took, most := range map[time.Duration]int{0: 1, 4 * time.Second: 2, 20 * time.Second: 5} {
		f := newThreadsFixture()
		of := f.Fake.(*fake.Fake)
		of.TookText = took
		id, attempts, err := reply(t, f, nil)
		if err != nil || id == "" || of.Hasty > 0 || attempts > most || len(of.Comments()) != 1 {
			t.Errorf("filled after %v: %q after %d attempts, %v, published too early %d times, replies %q", took, id,
				attempts, err, of.Hasty, of.Comments())
		}
		f.Close()
	}
}

// A container that Threads loses or cannot fill is made again, and the reply is written once.
func TestAReplyWhoseContainerIsLost(t *testing.T) {
	for _, name := range []string{"post 24/4279009", "container 24/4279009", "container ERROR UNKNOWN",
		"container EXPIRED", "prepare 1", "prepare 4", "post 4"} {
		f := newThreadsFixture()
		of := f.Fake.(*fake.Fake)
		answer := fake.Answers[name].Answer
		id, _, err := reply(t, f, &answer)
		if err != nil || id == "" || len(of.Comments()) != 1 {
			t.Errorf("%s: %q, %v, replies %q", name, id, err, of.Comments())
		}
		f.Close()
	}
}

// A thread whose later post loses its container goes on: its first post exists, so that it cannot begin again.
func TestALaterPostWhoseContainerIsLost(t *testing.T) {
	for _, name := range []string{"post 24/4279009", "container ERROR UNKNOWN", "container EXPIRED",
		"container 24/4279009"} {
		f := newThreadsFixture()
		of := f.Fake.(*fake.Fake)
		post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: threadsLong,
			Options: platform.Options{Thread: true, FirstComment: threadsComment}}
		var p platform.Progress
		told := false
		for step := 0; !p.Done() && step < 60; step++ {
			var wait time.Duration
			var err error
			p, wait, err = platform.Next(t.Context(), f.Adapter, f.Account, post, p, f.Now(), keep)
			if err != nil && platform.KindOf(err).Final() {
				t.Fatalf("%s: %v", name, err)
			}
			if !told && len(of.Published()) == 1 && p.Stage == platform.StageCheck {
				told = true
				answer := fake.Answers[name].Answer
				of.Say(answer)
			}
			f.Advance(max(wait, retryAfter(err)))
		}
		posts := of.Published()
		if !told || !p.Done() || p.Warning != nil || len(posts) != 2 || len(of.Comments()) != 1 {
			t.Errorf("%s: %+v with %d posts and the comments %q", name, p, len(posts), of.Comments())
		}
		f.Close()
	}
}

// A permission that only figures or comments need is told as such, and posts are published without it.
func TestWithoutAPermissionOnThreads(t *testing.T) {
	for _, lacks := range []string{"threads_manage_insights", "threads_read_replies", "threads_manage_replies"} {
		f := newThreadsFixture()
		f.Fake.(*fake.Fake).Lacks = []string{lacks}
		done, err := platformtest.Publish(t.Context(), f, f.Account, platform.Post{Key: "pub_1", Kind: platform.KindPost,
			Caption: "A shoe", Options: platform.Options{FirstComment: threadsComment}})
		if err != nil || (done.Warning != nil) != (lacks == "threads_manage_replies") {
			t.Fatalf("%s: %+v, %v", lacks, done, err)
		}
		_, figures := f.Adapter.Metrics(t.Context(), f.Account, done.Post)
		_, comments := f.Adapter.(platform.CommentReader).Comments(t.Context(), f.Account, done.Post, "")
		if platform.Denied(figures) != (lacks == "threads_manage_insights") ||
			platform.Denied(comments) != (lacks == "threads_read_replies") {
			t.Errorf("%s: %v, %v", lacks, figures, comments)
		}
		f.Close()
	}
}

func keep(context.Context, platform.Progress) error { return nil }

// The double counts the characters and the links of a text by itself.
func TestTheDoubleIsStrictOnThreads(t *testing.T) {
	five := ""
	for _, host := range []string{"a", "b", "c", "d", "e"} {
		five += "https://" + host + ".example/ "
	}
	for text, ok := range map[string]bool{strings.Repeat("a", 500): true, strings.Repeat("a", 501): false,
		strings.Repeat("я", 500): true, strings.Repeat("😀", 125): true, strings.Repeat("😀", 126): false,
		five + "https://a.example/": true, five + "www.f.example": false} {
		f := newThreadsFixture()
		post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: text}
		step, err := f.Adapter.Start(t.Context(), f.Account, post)
		if err == nil {
			_, err = f.Adapter.Check(t.Context(), f.Account, post, step.Handle)
		}
		if (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
		f.Close()
	}
}
