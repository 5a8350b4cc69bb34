package generate

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Checking is Work that checks the texts which were written for it.
type Checking interface {
	Work
	// Check returns nil if a text that a model has written for the work can be used, or why it cannot. It may read
	// other resources.
	Check(ctx context.Context, db *store.DB, now time.Time, t provider.Text) (*Refusal, error)
}

// Inspecting is Work that inspects the objects which were made for its forms.
type Inspecting interface {
	Work
	// Inspect returns the problems of the object of part n, in words for the writer, or none. The writer is told them
	// once: the work has to do with what it answers then.
	Inspect(n int, object json.RawMessage) (problems []string)
}

// Refusal is why a text cannot be used. The writer is told the problems once, and if its next answer is refused, too,
// the work fails with the code of that refusal, or holds the text.
type Refusal struct {
	Code     provider.FailureCode
	Problems []string // in words for the writer
	// Message says to the caller what to do about it.
	Message string
	// Held reports that the work takes the text if it is refused again: it waits for a person to decide then.
	Held bool
}

// unreadable has the writer mend an answer that cannot be read, and reports whether it does: once for each part.
func (p *part) unreadable(err error) bool {
	var u *provider.Unreadable
	if !errors.As(err, &u) || p.Mended {
		return false
	}
	p.Mended = true
	p.repair("unreadable", u.Answer, u.Reason.Error())
	return true
}

// flagged has the writer write anew what the guard of its provider has flagged, and reports whether it does: once for
// each part.
func (p *part) flagged(err error) bool {
	var e *provider.Error
	if !errors.As(err, &e) || e.Code != string(provider.FailedFlagged) || p.Refused || p.Kind != provider.KindText {
		return false
	}
	p.Refused = true
	p.repair(e.Code, "", "the guard of the model has flagged the text: write it without what may offend or harm")
	return true
}

// spares reports whether the work goes on without part n, whose error will not pass.
func spares(work Work, n int, err error) bool {
	var u *provider.Unreadable
	var final *failed
	reviewing, ok := work.(Reviewing)
	return err != nil && ok && reviewing.Spares(n) && (refused(err) || errors.As(err, &u) || errors.As(err, &final))
}

// repair has the part submitted again.
func (p *part) repair(why, answer string, problems ...string) {
	p.Repair, p.Handle = &provider.Repair{Answer: answer, Problems: problems}, ""
	_ = p.move(prepared) // a part that has an answer can be asked for another
	metric.Count("RepairedTexts", "reason", why)
}

// check refuses a text that the work cannot use. It reports whether the text is accepted: otherwise the writer is asked
// again.
func (w *Worker) check(ctx context.Context, a *attempt, work Work, result provider.Result) (ok bool, err error) {
	t := result.Text
	if t == nil && result.Object == nil {
		return true, nil
	}
	if work == nil {
		if work, err = w.work(ctx, a.Step, a.Attempt); err != nil {
			return false, err
		}
	}
	part := &a.Parts[a.n]
	if t == nil {
		return !part.inspected(work, a.n, result.Object), nil
	}
	checking, ok := work.(Checking)
	if !ok {
		return true, nil // the commit finds out if there is no such work any more
	}
	refusal, err := checking.Check(ctx, w.DB, w.Now(), *t)
	if err != nil || refusal == nil {
		return err == nil, err
	}
	if part.Refused && refusal.Held {
		return true, nil
	}
	if part.Refused {
		return false, task.Permanent(&failed{Failure{Code: refusal.Code, Message: refusal.Message +
			" Nothing was charged.", Retryable: true}, errors.New("generate: the text is refused again")})
	}
	answer, err := json.Marshal(t)
	if err != nil {
		return false, err
	}
	part.Refused = true
	part.repair(string(refusal.Code), string(answer), refusal.Problems...)
	return false, nil
}

// inspected has the writer mend an object that the work has refused, and reports whether it does: once for each part.
func (p *part) inspected(work Work, n int, object json.RawMessage) bool {
	inspecting, ok := work.(Inspecting)
	if !ok || p.Refused {
		return false
	}
	problems := inspecting.Inspect(n, object)
	if len(problems) == 0 {
		return false
	}
	p.Refused = true
	p.repair("object", string(object), problems...)
	return true
}
