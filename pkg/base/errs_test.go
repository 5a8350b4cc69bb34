package base_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/errs"
)

func TestAnErrorTellsItsCauseToTheLogOnly(t *testing.T) {
	cause := errors.New("the password is hunter2")
	e := errs.Wrap(cause, errs.Internal, "It failed %d times.", 3)
	if e.Message != "It failed 3 times." || !errors.Is(e, cause) {
		t.Errorf("message %q, cause %v", e.Message, e.Cause)
	}
	if got, want := e.Error(), "internal: It failed 3 times.: the password is hunter2"; got != want {
		t.Errorf("the log is told %q, want %q", got, want)
	}
	if got, want := errs.New(errs.NotFound, "Not there.").Error(), "not_found: Not there."; got != want {
		t.Errorf("the log is told %q, want %q", got, want)
	}
}

func TestCodeOf(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want errs.Code
	}{
		"our own":                 {errs.New(errs.NotFound, "x"), errs.NotFound},
		"our own, wrapped":        {fmt.Errorf("a: %w", errs.New(errs.RateLimited, "x")), errs.RateLimited},
		"a provider":              {errs.New(errs.ProviderUnavailable, "x"), errs.ProviderUnavailable},
		"a full queue":            {errs.New(errs.QueueFull, "x"), errs.QueueFull},
		"a deadline":              {fmt.Errorf("a: %w", context.DeadlineExceeded), errs.Timeout},
		"our own over a deadline": {errs.Wrap(context.DeadlineExceeded, errs.Internal, "x"), errs.Internal},
		"a canceled call":         {context.Canceled, errs.Internal},
		"any other":               {errors.New("x"), errs.Internal},
	} {
		if got := errs.CodeOf(c.err); got != c.want {
			t.Errorf("%s: code %s, want %s", name, got, c.want)
		}
		if got := errs.As(c.err); got.Code != c.want || !errors.Is(got, c.err) && !errors.Is(c.err, got) {
			t.Errorf("%s: as %v", name, got)
		}
	}
}

func TestWhatIsNotOursIsHidden(t *testing.T) {
	for _, err := range []error{errors.New("the password is hunter2"),
		fmt.Errorf("hunter2: %w", context.DeadlineExceeded)} {
		e := errs.As(err)
		if strings.Contains(e.Message, "hunter2") || !strings.Contains(e.Error(), "hunter2") || e.Message == "" {
			t.Errorf("message %q, log %q", e.Message, e)
		}
	}
}

func detail(param, message string) errs.Detail { return errs.Detail{Param: param, Message: message} }

func TestInvalidFields(t *testing.T) {
	one := errs.Invalid("/name", "has %d characters", 300)
	if one.Code != errs.ValidationFailed || one.Param != "/name" || one.Message != "/name: has 300 characters" ||
		len(one.Details) != 1 || one.Details[0].Message != "has 300 characters" {
		t.Errorf("%+v", one)
	}
	two := errs.InvalidFields(detail("/a", "is required"), detail("/b", "is required"), detail("/c", "is required"))
	if two.Param != "/a" || two.Message != "/a: is required (and 2 more; see details)" || len(two.Details) != 3 {
		t.Errorf("%+v", two)
	}
	long := errs.Invalid("/"+strings.Repeat("ä", 100_000), "is not a member")
	if want := "/" + strings.Repeat("ä", 255) + "…"; long.Param != want || long.Details[0].Param != want ||
		long.Message != want+": is not a member" {
		t.Errorf("a long name: %d bytes, %.100s", len(long.Param), long.Message)
	}
	if nowhere := errs.Invalid("", "is no object"); nowhere.Message != "is no object" || nowhere.Param != "" {
		t.Errorf("%+v", nowhere)
	}
}

func TestAllFaultsAreToldTogether(t *testing.T) {
	if err := errs.All(nil, nil); err != nil {
		t.Errorf("without a fault: %v", err)
	}
	model := errs.New(errs.UnsupportedModel, "No such model.")
	if err := errs.All(nil, model, nil); err != error(model) {
		t.Errorf("one fault: %v", err)
	}
	model.Param = "/model"
	e := errs.As(errs.All(errs.Invalid("/a", "is bad"), nil, model, errs.InvalidFields(detail("/b", "is worse"),
		detail("/c", "is worst"))))
	want := []errs.Detail{detail("/a", "is bad"), detail("/model", "No such model."), detail("/b", "is worse"),
		detail("/c", "is worst")}
	if e.Code != errs.ValidationFailed || e.Param != "/a" || !slices.Equal(e.Details, want) {
		t.Errorf("%+v", e)
	}
	both := errs.As(errs.All(model, errs.Invalid("/a", "is bad")))
	if both.Code != errs.UnsupportedModel || len(both.Details) != 2 {
		t.Errorf("%+v", both)
	}
	broken := errors.New("broken")
	if err := errs.All(errs.Invalid("/a", "is bad"), broken); err != broken {
		t.Errorf("a failure of ours: %v", err)
	}
}

func TestMissingRepeatsNoMoreThanAnID(t *testing.T) {
	const item, factory = "cnt_01h455vb4pex5vsknk084sn02q", "fac_01h455vb4pex5vsknk084sn02q"
	for value, want := range map[string]string{
		factory: `No factory has the id "` + factory + `" for this key's account and mode.`,
		"fac_1": `"fac_1" is not a whole id: after fac_ there are 26 small letters and digits.`,
		item:    `"` + item + `" is the id of a content item; this takes a factory id (fac_…).`,
		"xxx_1": `"xxx_1" is not an id of this API; this takes a factory id (fac_…).`,
		"shoes": `"shoes" is not an id of this API; this takes a factory id (fac_…).`,
	} {
		if e := errs.Missing("factory", value); e.Code != errs.NotFound || e.Message != want {
			t.Errorf("%v", e)
		}
		if e := errs.NotID("factory_id", "factory", value); value != factory &&
			(e.Code != errs.ValidationFailed || e.Details[0].Message+"." != want) {
			t.Errorf("%v", e)
		}
	}
	if long := errs.Missing("factory", strings.Repeat("é", 10_000)); len(long.Message) > 400 {
		t.Errorf("the message has %d bytes", len(long.Message))
	}
}

func TestBelowNamesThePlaceInTheMessageToo(t *testing.T) {
	e := errs.As(errs.Below("/body", errs.InvalidFields(errs.Detail{Param: "/name", Message: "is required"},
		errs.Detail{Param: "/body/kind", Message: "is required"})))
	if e.Param != "/body/name" || e.Message != "/body/name: is required (and 1 more; see details)" ||
		e.Details[0].Param != "/body/name" || e.Details[1].Param != "/body/kind" {
		t.Errorf("%+v", e)
	}
}
