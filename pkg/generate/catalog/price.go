package catalog

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Unit is the unit of a price.
type Unit string

// The units of prices.
const (
	PerImage      Unit = "image"
	PerSecond     Unit = "second"
	PerCharacters Unit = "1k_characters"
	PerTokens     Unit = "1k_tokens"
	PerTrack      Unit = "track"
)

// megapixel is the number of pixels that providers charge as one megapixel.
const megapixel = 1024 * 1024

// Price is the price of a model: Credits for every Per units. So prices below a credit stay exact, such as 3 credits
// for 10 images. The price of a piece of work is rounded up to a whole credit once, at the end.
type Price struct {
	// Unit of the price.
	Unit Unit `json:"unit" enum:"image,second,1k_characters,1k_tokens,track"`
	// Credits for the number of units in per. For text models: of output tokens.
	Credits int64 `json:"credits" example:"4"`
	// Number of units that the credits pay for.
	Per int64 `json:"per" example:"1"`
	// Text models only: credits for the number of input tokens in per.
	InputCredits int64 `json:"input_credits,omitempty" example:"1"`
	// Images only: megapixels (of 1,048,576 pixels) that one unit covers. A larger image counts as several units,
	// rounded up. Absent if the size does not matter.
	Megapixels int64 `json:"megapixels,omitempty" example:"1"`
	// Text models only: price of a request with a long prompt. Absent if the length does not matter.
	LongPrompt *LongPrompt `json:"long_prompt,omitempty"`
}

// LongPrompt is the price of all tokens of a request that has more input tokens than a bound. It is for as many tokens
// as the price that it replaces.
type LongPrompt struct {
	// Input tokens above which it applies.
	AboveInputTokens int64 `json:"above_input_tokens" example:"100000"`
	// Credits for the number of output tokens in per.
	Credits int64 `json:"credits" example:"11"`
	// Credits for the number of input tokens in per.
	InputCredits int64 `json:"input_credits" example:"11"`
}

// Quantity is the requested amount of a model's results. Only the field for the unit of its price matters.
type Quantity struct {
	Images        int
	Width, Height int           // of each image; 0 means the smallest
	Length        time.Duration // of video, speech that moves an avatar, or music
	Characters    int
	InputTokens   int
	OutputTokens  int
	Tracks        int
}

// ErrNoPrice is the error for a model whose price is not known.
var ErrNoPrice = errors.New("catalog: the model has no price")

// Cost returns the price of a quantity in credits, rounded up.
func (m Model) Cost(q Quantity) (int64, error) {
	if m.Price == nil {
		return 0, fmt.Errorf("%w: %s", ErrNoPrice, m.ID)
	}
	if min(q.Images, q.Width, q.Height, q.Characters, q.InputTokens, q.OutputTokens, q.Tracks) < 0 || q.Length < 0 {
		return 0, fmt.Errorf("catalog: %+v is no quantity", q)
	}
	p := *m.Price
	switch p.Unit {
	case PerImage:
		return ceil(mul(int64(q.Images), p.sizes(q), p.Credits), p.Per), nil
	case PerSecond:
		return ceil(mul(ceil(q.Length.Nanoseconds(), int64(time.Millisecond)), p.Credits), 1000*p.Per), nil
	case PerCharacters:
		return ceil(mul(int64(q.Characters), p.Credits), 1000*p.Per), nil
	case PerTokens:
		read, written := p.tokens(q.InputTokens)
		return ceil(add(mul(int64(q.InputTokens), read), mul(int64(q.OutputTokens), written)),
			1000*p.Per), nil
	case PerTrack:
		return ceil(mul(int64(q.Tracks), p.Credits), p.Per), nil
	default:
		return 0, fmt.Errorf("catalog: %s is priced by %q", m.ID, p.Unit)
	}
}

// Excess returns the cost of a result beyond its reserved price, or 0 if it is within the tolerance that the service
// bears: one unit of the price, or a tenth.
func (m Model) Excess(reserved, cost int64) int64 {
	borne := reserved / 10
	if m.Price != nil {
		borne = max(borne, ceil(m.Price.Credits, m.Price.Per))
	}
	if cost <= reserved+borne {
		return 0
	}
	return cost - reserved
}

// tokens returns the credits for input and output tokens of a request with a number of input tokens.
func (p Price) tokens(input int) (read, written int64) {
	if long := p.LongPrompt; long != nil && int64(input) > long.AboveInputTokens {
		return long.InputCredits, long.Credits
	}
	return p.InputCredits, p.Credits
}

// sizes returns the number of units that one image of the quantity counts as.
func (p Price) sizes(q Quantity) int64 {
	if p.Megapixels == 0 {
		return 1
	}
	return max(ceil(mul(int64(q.Width), int64(q.Height)), p.Megapixels*megapixel), 1)
}

// ceil divides two numbers that are not negative and rounds up.
func ceil(a, b int64) int64 {
	if a%b == 0 {
		return a / b
	}
	return a/b + 1
}

// mul multiplies numbers that are not negative. An overflow yields the largest number: an absurd quantity must not come
// out cheap.
func mul(factors ...int64) int64 {
	product := int64(1)
	for _, f := range factors {
		if f != 0 && product > math.MaxInt64/f {
			return math.MaxInt64
		}
		product *= f
	}
	return product
}

// add adds numbers with the same rule as mul.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
