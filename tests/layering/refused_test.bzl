"""A test that passes when Bazel refuses a target."""

def _refused_test_impl(ctx):
    target = ctx.attr.target[0]  # a list, as it is under a transition
    messages = []
    if AnalysisFailureInfo in target:
        messages = [cause.message for cause in target[AnalysisFailureInfo].causes.to_list()]
    return AnalysisTestResultInfo(
        success = any([ctx.attr.because in message for message in messages]),
        message = "expected a refusal with \"%s\", got %s" % (ctx.attr.because, messages),
    )

refused_test = rule(
    implementation = _refused_test_impl,
    analysis_test = True,
    attrs = {
        "target": attr.label(
            mandatory = True,
            # A failure to analyse it becomes data for us, not the end of the build.
            cfg = analysis_test_transition(
                settings = {"//command_line_option:allow_analysis_failures": "True"},
            ),
        ),
        "because": attr.string(mandatory = True, doc = "What Bazel's message must say."),
    },
)
