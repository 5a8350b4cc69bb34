// Package law has the rules of law that decide what may be published where and since when. It makes no calls: callers
// fill in Facts, and Check returns what the rules in force find.
package law

import (
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/money"
)

// Rule is a rule of law that content must keep.
type Rule struct {
	// ID is a name that never changes, and Version counts the changes of what the rule checks.
	ID      string
	Version int
	// Jurisdiction is where it is in force: EU, or a country (ISO 3166-1).
	Jurisdiction string
	// From is the beginning of its first day in the capital of the jurisdiction. Until is the beginning of the day
	// after its last one, or zero if no end is known.
	From, Until time.Time
	// Reads names the facts on which it depends, and Asks says what it requires.
	Reads, Asks string
	// Source is the text of law, and URL its address.
	Source, URL string
	// Mend says how content gets within the rule.
	Mend string
	// applies reports whether the rule is about the facts, and broken says what violates it, and in which member of the
	// request. An empty message is no violation.
	applies func(Facts) bool
	broken  func(Facts) (param, message string)
}

// Facts are what the rules read of one publication, or of content that is not assigned to a platform yet.
type Facts struct {
	// Region is the country in which it is published (ISO 3166-1). No rule is in force without one.
	Region string
	// At is the time at which it is published.
	At time.Time
	// Platform is empty if it is not known yet. Then the rules about platforms do not apply.
	Platform string
	// Param is the member of the request that names the platform, for errors.
	Param string
	// Advertising reports whether the content advertises something, and Marked how it is marked, if it is.
	Advertising bool
	Marked      *Marking
	// Reduction is the reduction of a price that it announces, or nil.
	Reduction *Reduction
	// Generated reports whether models made the texts, and Reviewed whether a person approved them. Informs reports
	// whether they inform the public on matters of public interest, and Disclosed whether they say how they were made.
	Generated, Reviewed, Informs, Disclosed bool
	// DeepFake reports whether the media falsely appear to show what exists, and Labelled whether they say so.
	DeepFake, Labelled bool
}

// Marking is the marking of advertising, as a country requires it.
type Marking struct {
	Advertiser, TaxID, ERID string
}

// Reduction is a reduction of a price that content announces.
type Reduction struct {
	// Now is the reduced price, and Prior the lawful prior price.
	Now, Prior money.Price
	// Percent is the announced reduction in percent, 0 if none is announced, and Struck the announced prior price, or
	// zero.
	Percent int64
	Struck  money.Price
	// Param is the member of the request that has the percentage, and StruckParam that with the prior price. Of is the
	// name of the product.
	Param, StruckParam, Of string
}

// Violation is what is wrong with content by a rule.
type Violation struct {
	*Rule
	// Param is the JSON pointer of the member at fault, and Message says what is wrong with it.
	Param, Message string
}

// Result is the result of a rule that applied.
type Result struct {
	*Rule
	Violation *Violation // nil if the rule was kept by it
}

// day returns the beginning of a day at the given hours ahead of UTC.
func day(year int, month time.Month, date, ahead int) time.Time {
	return time.Date(year, month, date, 0, 0, 0, 0, time.FixedZone("", ahead*3600))
}

// Since returns the first day of the rule as a date.
func (r *Rule) Since() string { return r.From.Format(time.DateOnly) }

// InForce reports whether the rule is in force in a country at a time.
func (r *Rule) InForce(region string, at time.Time) bool {
	in := r.Jurisdiction == region || r.Jurisdiction == EU && InEU(region)
	return in && !at.Before(r.From) && (r.Until.IsZero() || at.Before(r.Until))
}

// Checked returns the results of all rules that are in force and about the facts, in the order of the table.
func Checked(f Facts) (all []Result) {
	for i := range Rules {
		r := &Rules[i]
		if !r.InForce(f.Region, f.At) || !r.applies(f) {
			continue
		}
		one := Result{Rule: r}
		if param, message := r.broken(f); message != "" {
			one.Violation = &Violation{r, param, message}
		}
		all = append(all, one)
	}
	return all
}

// Check returns the violations of all rules that are in force.
func Check(f Facts) (all []Violation) {
	for _, r := range Checked(f) {
		if r.Violation != nil {
			all = append(all, *r.Violation)
		}
	}
	return all
}

// Error returns the violation as the error of a request.
func (v Violation) Error() *errs.Error {
	e := errs.Invalid(v.Param, "%s (%s). %s", strings.TrimSuffix(v.Message, "."), v.Source, v.Mend)
	e.Code = errs.RuleViolated
	return e.With(errs.RuleContext{Rule: v.ID, Jurisdiction: v.Jurisdiction, Since: v.Since(), Source: v.Source,
		Mend: v.Mend})
}

// Refused returns one error for all violations, or nil if there is none. Its context is that of the first.
func Refused(all []Violation) error {
	var found []error
	for _, v := range all {
		found = append(found, v.Error())
	}
	return errs.All(found...)
}
