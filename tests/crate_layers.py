"""Layers of the feature tests: one feature each, by name. `.SUFFIX` becomes the extension under test."""

from __future__ import annotations

ROBOT = """#usda 1.0
(
    defaultPrim = "Robot"
)
def Xform "Robot" (
    prepend apiSchemas = ["PhysicsArticulationRootAPI"]
)
{
    def Cube "base" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]
    )
    {
        double size = 0.5
    }
    def Cube "arm" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI"]
    )
    {
        double3 xformOp:translate = (1, 2, 3)
        quatf xformOp:orient = (0.8, 0.6, 0, 0)
        float3 xformOp:scale = (1, 2, 1)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient", "xformOp:scale"]
    }
    def PhysicsRevoluteJoint "joint" (
        prepend apiSchemas = ["PhysicsDriveAPI:angular"]
    )
    {
        rel physics:body0 = </Robot/base>
        rel physics:body1 = </Robot/arm>
        point3f physics:localPos0 = (0.1, 2, 3)
        float physics:lowerLimit = -30.5
        float drive:angular:physics:stiffness = 100
    }
}
"""

OTHER = """#usda 1.0
(
    defaultPrim = "Other"
)
def Scope "Other"
{
    over "arm" (
        append apiSchemas = ["PhysicsMassAPI"]
    )
    {
        float physics:mass = 7
        double size = 9
    }
}
"""

NEST = """#usda 1.0
(
    defaultPrim = "Nest"
)
def Xform "Nest"
{
    def Xform "inner" (
        prepend references = @./robot.SUFFIX@
    )
    {
        rel physics:unknown = </Nest/inner/arm>
        over "joint"
        {
            rel physics:body0 = </Nest/inner/arm>
        }
    }
}
"""

UNDER = """#usda 1.0
(
    metersPerUnit = 7
)
def Cube "A" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI"]
)
{
    double size = 3
    float physics:mass = 2
}
"""

OVER = """(
    subLayers = [@./under.SUFFIX@, @./robot.SUFFIX@]
)
over "A" (
    append apiSchemas = ["PhysicsMassAPI"]
)
{
    float physics:mass = 5
}
"""

SINGLE = {
    "unapplied": """
def Scope "a"
{
    float physics:mass = 3
}
def Xform "b" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI"]
)
{
    float physics:mass = 4
    float drive:angular:physics:stiffness = 5
    custom float physics:density = 2
    float physics:foo = 1
}
""",
    "blocked": """
def PhysicsRevoluteJoint "j"
{
    float physics:lowerLimit = None
    float physics:upperLimit.timeSamples = { 1: 2 }
}
""",
    "wrong types": """
def PhysicsRevoluteJoint "j"
{
    double physics:lowerLimit = 0.1
    half physics:upperLimit = 0.5
    int physics:breakForce = 3
    string physics:axis = "Y"
    quath physics:localRot0 = (1, 0, 0, 0)
}
""",
    "samples and block": """
def PhysicsRevoluteJoint "j"
{
    float physxJoint:maxJointVelocity = None
    float physxJoint:maxJointVelocity.timeSamples = { 0: 1 }
}
""",
    "class, over, inactive": """
class PhysicsRevoluteJoint "c"
{
}
over PhysicsRevoluteJoint "o"
{
}
def PhysicsRevoluteJoint "i" (
    active = false
)
{
}
def Xform "x" (
    active = false
)
{
    def PhysicsFixedJoint "j"
    {
    }
}
""",
    "list-op forms": """
def Xform "a" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
)
{
}
def Xform "b" (
    append apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
)
{
}
def Xform "c" (
    add apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
)
{
}
def Xform "d" (
    apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
)
{
}
def Xform "e" (
    delete apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
)
{
}
def Xform "f" (
    reorder apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
)
{
}
""",
    "relationship forms": """
def PhysicsFixedJoint "j"
{
    rel physics:body0 = </j>
    prepend rel physics:body1 = [</Missing/x.y>, </j>]
}
def PhysicsFixedJoint "k"
{
    rel physics:body0 = []
    rel physics:body1 = None
}
def PhysicsFixedJoint "l"
{
    rel physics:body0
    append rel physics:body1 = </j.physics:axis>
}
""",
    "unknown types and APIs": """
def Nonsense "n" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI"]
)
{
}
def Xform "x" (
    prepend apiSchemas = ["NoAPI", "PhysicsDriveAPI", "PhysicsDriveAPI:a:b", "PhysicsRigidBodyAPI"]
)
{
}
""",
    "target rows": """
def PhysicsFixedJoint "j"
{
    rel physics:body0 = </S>
    rel physics:body1 = </X>
}
def Sphere "S"
{
    double radius = 3
}
def Xform "X"
{
}
""",
    "collider geometry": """
def Mesh "m" (
    prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]
)
{
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1.5, 0)]
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
}
""",
}

UNPROVED = {
    "variantSelection": """
def Xform "a" (
    variants = {
        string v = "x"
    }
)
{
}
""",
    "inheritPaths": """
class "c"
{
}
def Xform "a" (
    inherits = </c>
)
{
}
""",
    "specializes": """
class "c"
{
}
def Xform "a" (
    specializes = </c>
)
{
}
""",
    "clips": """
def Xform "a" (
    clips = {
        dictionary default = {
        }
    }
)
{
}
""",
    "leads back": """
def Xform "a"
{
    def Xform "b" (
        references = </a>
    )
    {
    }
}
""",
    "material binding": """
def Cube "a" (
    prepend apiSchemas = ["PhysicsCollisionAPI"]
)
{
    rel material:binding = </m>
}
def Material "m"
{
}
""",
    "PointInstancer": """
def PointInstancer "p"
{
}
""",
}
