package area_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/engagement"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/testdata/platforms/control"
)

const asked = "Does it come in other colors?"

// read has a reader comment, and waits until the comment is known.
func (w *commentWorld) read(text string) control.Comment {
	w.T.Helper()
	c := w.fake.AddComment(control.Comment{Post: w.post, Text: text})
	w.until("the comment is read", func() bool { return w.comments()[text] != nil })
	return c
}

func TestCommentsAreReadOnce(t *testing.T) {
	for name := range fakes {
		t.Run(name, func(t *testing.T) {
			w := commentNewWorld(t, name)
			first := w.read(asked)
			w.fake.AddComment(control.Comment{Post: w.post, Parent: first.ID, Text: "Yes", Own: true})
			w.until("the own reply is read", func() bool { return w.comments()["Yes"] != nil })
			parent, own := w.comments()[asked], w.comments()["Yes"]
			if !own.Own || own.ParentID == nil || *own.ParentID != parent.ID || parent.Own || parent.ParentID != nil ||
				parent.Author.Name+parent.Author.Handle == "" || parent.State != engagement.Visible {
				t.Errorf("%+v\n%+v", parent, own)
			}
			if got := w.events(); got["comment.created"] != 1 {
				t.Errorf("%v", got)
			}
			w.fake.RemoveComment(first.ID)
			w.until("they are gone", func() bool {
				return w.comments()[asked].State == engagement.Deleted && w.comments()["Yes"].State == engagement.Deleted
			})
		})
	}
}

// Each call of a reply meets each trouble. No reply is written twice, and a reply that is reported as published exists.
func TestNoReplyIsWrittenTwice(t *testing.T) {
	for name := range fakes {
		for call := 1; call <= 4; call++ {
			for _, trouble := range platformtest.Faults() {
				t.Run(fmt.Sprintf("%s/%d/%s", name, call, trouble), func(t *testing.T) {
					w := commentNewWorld(t, name)
					w.read(asked)
					w.reply(asked, "Yes: in red.")
					w.fake.Fail(w.fake.Calls()+call, trouble)
					var got *engagement.Answer
					w.until("the reply ends", func() bool {
						got = w.comments()[asked].Reply
						return got.State != engagement.Pending
					})
					n := w.replies()
					if got.State == engagement.Done && n != 1 || n > 1 ||
						got.State == engagement.Failed && got.Failure.Code != string(platform.CodeOutcomeUnknown) {
						t.Errorf("%d replies, and %+v %+v", n, got, got.Failure)
					}
					if n == 1 && got.State != engagement.Done {
						t.Errorf("the reply exists and was not found: %+v", got.Failure)
					}
					if events := w.events()["comment.replied"]; (events == 1) != (got.State == engagement.Done) {
						t.Errorf("%d events", events)
					}
				})
			}
		}
	}
}

func TestCommentsAreHiddenAndDeleted(t *testing.T) {
	for name, of := range fakes {
		t.Run(name, func(t *testing.T) {
			w := commentNewWorld(t, name)
			c := w.read(asked)
			can := of.adapter(wire.Config{}).Capabilities().Comments
			step := func(kind string, state engagement.State) {
				w.start(asked, kind)
				w.until(kind, func() bool { return w.comments()[asked].Change.State != engagement.Pending })
				if got := w.comments()[asked]; got.State != state || got.Change.State != engagement.Done {
					t.Errorf("%s: %+v %+v", kind, got, got.Change.Failure)
				}
			}
			if can.Hides {
				step(engagement.Hide, engagement.Hidden)
				if now := w.fake.CommentsOn(w.post); !now[0].Hidden {
					t.Errorf("%+v", now)
				}
				step(engagement.Show, engagement.Visible)
			}
			if name == "x" { // an account deletes its own replies alone
				w.start(asked, engagement.Remove)
				w.until("it is refused", func() bool { return w.comments()[asked].Change.State == engagement.Failed })
				if got := w.comments()[asked].Change.Failure; got.Code != string(platform.CodeUnsupported) {
					t.Errorf("%+v", got)
				}
				own := w.fake.AddComment(control.Comment{Post: w.post, Parent: c.ID, Text: "Yes", Own: true})
				w.until("the reply is read", func() bool { return w.comments()["Yes"] != nil })
				w.start("Yes", engagement.Remove)
				w.until("the reply is deleted", func() bool { return w.comments()["Yes"].State == engagement.Deleted })
				if w.fake.RemoveComment(own.ID) {
					t.Error("the reply was not deleted")
				}
			} else if can.Deletes {
				step(engagement.Remove, engagement.Deleted)
				if w.fake.RemoveComment(c.ID) {
					t.Error("the comment was not deleted")
				}
			}
		})
	}
}

// A comment that was deleted on the platform in the meantime cannot be hidden, and its deletion is done.
func TestACommentThatWasDeletedMeanwhile(t *testing.T) {
	for kind, state := range map[string]string{engagement.Hide: engagement.Failed, engagement.Remove: engagement.Done} {
		w := commentNewWorld(t, "instagram")
		c := w.read(asked)
		w.fake.RemoveComment(c.ID)
		w.start(asked, kind)
		w.until("the change ends", func() bool { return w.comments()[asked].Change.State != engagement.Pending })
		got := w.comments()[asked]
		if got.Change.State != state || got.State != engagement.Deleted ||
			state == engagement.Failed && got.Change.Failure.Code != string(platform.CodeCommentNotFound) {
			t.Errorf("%s: %+v %+v", kind, got.Change, got.Change.Failure)
		}
	}
	w := commentNewWorld(t, "vk")
	c := w.read(asked)
	w.fake.RemoveComment(c.ID)
	w.reply(asked, "Yes")
	w.until("the reply ends", func() bool { return w.comments()[asked].Reply.State != engagement.Pending })
	got := w.comments()[asked]
	if got.Reply.State != engagement.Failed || got.State != engagement.Deleted || w.replies() != 0 {
		t.Errorf("%+v", got.Reply)
	}
}

// A comment that a caller is hiding is not shown by a look at the same time.
func TestALookDuringAChangeChangesNoState(t *testing.T) {
	w := commentNewWorld(t, "instagram")
	c := w.read(asked)
	w.start(asked, engagement.Hide)
	w.fake.HideComment(c.ID, false)
	w.Clock.Advance(10 * time.Minute) // the look and the change are due
	w.until("the comment is hidden", func() bool { return w.comments()[asked].Change.State != engagement.Pending })
	if got := w.comments()[asked]; got.State != engagement.Hidden {
		t.Errorf("%+v", got)
	}
}

func TestADisconnectedAccount(t *testing.T) {
	w := commentNewWorld(t, "instagram")
	w.read(asked)
	it, err := w.DB.Get(t.Context(), store.IDKey(accountID))
	if err != nil {
		t.Fatal(err)
	}
	r, err := social.Decode(&it)
	if err != nil {
		t.Fatal(err)
	}
	r.State = social.Disconnected
	if err := r.WriteTo(&it); err != nil {
		t.Fatal(err)
	}
	w.commit(func(tx *store.Tx) error { tx.Replace(it); return nil })
	w.reply(asked, "Yes")
	w.start(asked, engagement.Hide)
	w.until("both end", func() bool {
		got := w.comments()[asked]
		return got.Reply.State == engagement.Failed && got.Change.State == engagement.Failed
	})
	if got := w.comments()[asked]; got.Reply.Failure.Code != string(platform.CodeNeedsReconnect) || w.replies() != 0 {
		t.Errorf("%+v", got.Reply.Failure)
	}
}

// The comments on an item that was deleted are deleted.
func TestCommentsEndWithTheirItem(t *testing.T) {
	w := commentNewWorld(t, "instagram")
	w.read(asked)
	it, err := w.DB.Get(t.Context(), store.IDKey(itemID))
	if err != nil {
		t.Fatal(err)
	}
	w.commit(func(tx *store.Tx) error { tx.Delete(it); return nil })
	w.until("they are gone", func() bool { return len(w.comments()) == 0 && len(w.due()) == 0 })
}

func TestLooksBecomeRarer(t *testing.T) {
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	p := item.Reading{At: at}
	for age, most := range map[time.Duration]time.Duration{0: 5 * time.Minute, 2 * time.Hour: 72 * time.Minute,
		48 * time.Hour: 29 * time.Hour} {
		if wait, more := p.Next(at.Add(age), platform.Commenting{}); !more || wait <= 0 || wait > most {
			t.Errorf("%s: %s, %t", age, wait, more)
		}
	}
	if _, more := p.Next(at.Add(31*24*time.Hour), platform.Commenting{}); more {
		t.Error("it does not end")
	}
	few := platform.Commenting{ReadAt: []time.Duration{time.Hour, 24 * time.Hour}}
	if wait, more := p.Next(at.Add(2*time.Hour), few); !more || wait != 22*time.Hour {
		t.Errorf("%s, %t", wait, more)
	}
	if _, more := p.Next(at.Add(25*time.Hour), few); more {
		t.Error("it does not end")
	}
}

func TestTextsOfStrangersAreClean(t *testing.T) {
	for text, want := range map[string]string{
		"a\u202eb\x00c\u200bd": "abcd", " two\r\n\tlines ": "two\n lines", "\xff👨‍👩‍👧": "👨‍👩‍👧",
		strings.Repeat("é", 20): strings.Repeat("é", 10),
	} {
		if got := engagement.Clean(text, 10); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}
