package item

// Trial tells which arms of an experiment an item has.
type Trial struct {
	// Id of the experiment.
	ID string `json:"id" example:"exp_01h455vb4pex5vsknk084sn02q"`
	// Number of the item in the experiment, from 1.
	Number int `json:"number" minimum:"1"`
	// Arm of each factor that applies to the item.
	Arms []TrialArm `json:"arms" nullable:"false"`
}

// TrialArm is the arm of a factor that an item was given by chance.
type TrialArm struct {
	// Name of the factor.
	Factor string `json:"factor" example:"hook"`
	// The arm.
	Arm string `json:"arm" example:"question"`
	// Probability with which the item was given this arm.
	Propensity float64 `json:"propensity" minimum:"0" maximum:"1" example:"0.5"`
	// Probability of each arm of the factor, in their order.
	All []float64 `json:"propensities" nullable:"false" example:"[0.5,0.5]"`
}

// Arm returns the arm of a factor that the item has, or empty if it has none.
func (t *Trial) Arm(factor string) string {
	if t != nil {
		for _, a := range t.Arms {
			if a.Factor == factor {
				return a.Arm
			}
		}
	}
	return ""
}
