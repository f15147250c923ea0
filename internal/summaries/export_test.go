package summaries

// WholeCluster is the number of members that the built-in summarizer always reads.
const WholeCluster = wholeCluster
